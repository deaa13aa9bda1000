// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// What the C callbacks of an SSL_CTX read.
@safe
final class CallbackData: @unchecked Sendable {
    // Unchecked because of the pointers to other contexts: one TLSContext owns them all.
    /// A context to go over to.
    @safe
    struct Host {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) {
            unsafe self.pointer = pointer
        }
    }

    var applicationProtocols: [UInt8] = []
    var pinned: Set<Digest> = []
    var hosts = ServerNames<Host>()
    var ticketKeys: SessionTicketKeys?
    var clientCertificates: ClientCertificatePolicy.Mode?
    var sessionScope: [UInt8] = []
    var ocspResponse: OCSPResponse?

    /// The data of a context; the context is kept by a connection, and keeps the data.
    static func of(_ context: OpaquePointer?) -> CallbackData? {
        guard let data = unsafe SSL_CTX_get_ex_data(context, 0) else { return nil }
        return unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue()
    }
}

/// One SSL_CTX and the data of its callbacks, of one life.
@safe
final class ContextPart: @unchecked Sendable {
    // Unchecked because of the pointer: nothing configures the SSL_CTX or its data after it is made.
    let pointer: OpaquePointer
    let data: CallbackData

    init(_ method: OpaquePointer?, _ data: CallbackData) throws(OpenSSLError) {
        ErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(method) else { throw .draining(.libraryFailure, context: "TLS context") }
        unsafe pointer = context
        self.data = data
        // Retained by this object; index 0 is the application's (SSL_CTX_set_app_data(3)).
        guard unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(data).toOpaque()) == 1 else {
            throw .draining(.libraryFailure, context: "TLS context")
        }
    }

    // The connections keep the TLSContext, so no callback can come any more.
    deinit { unsafe SSL_CTX_free(pointer) }
}
