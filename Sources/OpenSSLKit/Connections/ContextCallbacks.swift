// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// The data that the C callbacks of an SSL_CTX read.
@safe
final class ContextCallbacks: @unchecked Sendable {
    // Unchecked because of the pointers to other contexts: one TLSContext owns them all.
    /// The context of another host, to switch to.
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

    /// Returns the data of a context; a connection retains the context, which retains the data.
    static func of(_ context: OpaquePointer?) -> ContextCallbacks? {
        guard let data = unsafe SSL_CTX_get_ex_data(context, 0) else { return nil }
        return unsafe Unmanaged<ContextCallbacks>.fromOpaque(data).takeUnretainedValue()
    }
}

/// One SSL_CTX and the data of its callbacks, released together.
@safe
final class ContextPart: @unchecked Sendable {
    // Unchecked because of the pointer: the SSL_CTX and its data are not changed after they are made.
    let pointer: OpaquePointer
    let data: ContextCallbacks

    init(_ method: OpaquePointer?, data: ContextCallbacks) throws(OpenSSLError) {
        ErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(method) else { throw .draining(.libraryFailure, context: "TLS context") }
        unsafe pointer = context
        self.data = data
        // Retained by this object; index 0 is the application's (SSL_CTX_set_app_data(3)).
        guard unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(data).toOpaque()) == 1 else {
            throw .draining(.libraryFailure, context: "TLS context")
        }
    }

    // Connections retain the TLSContext, so no callback can run any more.
    deinit { unsafe SSL_CTX_free(pointer) }
}
