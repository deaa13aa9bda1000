// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// An SSL_CTX and the data of its callbacks.
@safe
final class SSLContext: @unchecked Sendable {
    // Unchecked because of the pointer. The SSL_CTX and its data are not changed after they are made.
    let pointer: OpaquePointer
    let data: CallbackData

    init(_ method: OpaquePointer?, data: CallbackData) throws(OpenSSLError) {
        ErrorQueue.clear()
        guard let context = unsafe SSL_CTX_new(method) else { throw .draining(.libraryFailure, context: "TLS context") }
        unsafe pointer = context
        self.data = data
        // This object retains the data. Index 0 is reserved for the application (SSL_CTX_set_app_data(3)).
        guard unsafe SSL_CTX_set_ex_data(context, 0, Unmanaged.passUnretained(data).toOpaque()) == 1 else {
            throw .draining(.libraryFailure, context: "TLS context")
        }
    }

    // No callback can run any more, because connections retain the TLSContext.
    deinit { unsafe SSL_CTX_free(pointer) }
}
