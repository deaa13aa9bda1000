// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The negotiated properties of a connection.
public struct TLSConnectionInfo: Sendable, Hashable {
    /// The version; nil before the handshake.
    public let version: TLSVersion?
    /// The cipher suite by its IANA name, such as "TLS_AES_128_GCM_SHA256"; nil before the handshake.
    public let cipherSuite: String?
    /// The application protocol (RFC 7301); nil if none was negotiated.
    public let applicationProtocol: String?
    /// True if a session was resumed, so that no certificate was sent on this connection.
    public let isResumed: Bool

    /// The server name of the client (RFC 6066 3), in lower case and without a dot at its end; nil without one.
    ///
    /// It is nil on a client. The name may be unknown to the server. A server with several names compares it with the
    /// Host field of requests (RFC 9110 15.5.20).
    public let serverName: String?

    init(of ssl: OpaquePointer, serverName: String?) {
        self.serverName = serverName
        switch unsafe SSL_version(ssl) {
        case TLS1_2_VERSION: version = .tls12
        case TLS1_3_VERSION: version = .tls13
        case _: version = nil
        }
        let cipher = unsafe SSL_get_current_cipher(ssl).flatMap { unsafe SSL_CIPHER_standard_name($0) }
        cipherSuite = unsafe cipher.map { unsafe String(cString: $0) }
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(ssl, &start, &count)
        let selected = unsafe UnsafeBufferPointer(start: start, count: Int(count))
        applicationProtocol = selected.isEmpty ? nil : unsafe String(decoding: selected, as: UTF8.self)
        isResumed = unsafe SSL_session_reused(ssl) == 1
    }
}
