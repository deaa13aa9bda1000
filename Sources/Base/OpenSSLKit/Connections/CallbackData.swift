// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The data that the C callbacks of an SSL_CTX use.
@safe
final class CallbackData: @unchecked Sendable {
    // Unchecked because of the pointers to other contexts. One TLSContext owns all of them.
    /// The SSL_CTX of a ``TLSHost``.
    ///
    /// A connection switches to it if the client requests the host.
    @safe
    struct Host {
        let pointer: OpaquePointer

        init(_ pointer: OpaquePointer) {
            unsafe self.pointer = pointer
        }
    }

    var applicationProtocols: [UInt8] = []
    var pinned: Set<Digest> = []
    var pinnedKeys: Set<Digest> = []
    /// The record for the key of a server; nil if servers may be accepted.
    var presentedKey: PresentedKey?
    /// True if the chain of a server with a pinned key is also verified.
    var verifiesChain = false
    var hosts = ServerNames<Host>()
    var ticketKeys: SessionTicketKeys?
    var clientCertificates: ClientCertificatePolicy.Mode?
    var sessionScope: [UInt8] = []
    var ocspResponse: OCSPResponse?

    /// Returns the data of an SSL_CTX; nil if it has no data.
    ///
    /// A connection retains its ``TLSContext``, so the data exists.
    static func of(_ context: OpaquePointer?) -> CallbackData? {
        guard let data = unsafe SSL_CTX_get_ex_data(context, 0) else { return nil }
        return unsafe Unmanaged<CallbackData>.fromOpaque(data).takeUnretainedValue()
    }
}
