// SPDX-License-Identifier: Apache-2.0

public import OpenSSLKit

/// The user event that a TLS handler fires when its handshake is complete, before any plaintext.
public struct TLSHandshakeCompleted: Sendable, Hashable {
    /// The application protocol (RFC 7301); nil if none was negotiated.
    public let negotiatedProtocol: String?
    /// The version of TLS.
    public let version: TLSVersion
    /// The cipher suite by its name in the IANA registry.
    public let cipher: String
    /// True if a session was resumed.
    public let isResumed: Bool

    /// The server name that the client sent; nil on a client.
    ///
    /// See ``TLSConnectionInfo/serverName``.
    public let serverName: String?

    /// Makes an event.
    public init(
        negotiatedProtocol: String?,
        version: TLSVersion,
        cipher: String,
        isResumed: Bool = false,
        serverName: String? = nil
    ) {
        self.negotiatedProtocol = negotiatedProtocol
        self.version = version
        self.cipher = cipher
        self.isResumed = isResumed
        self.serverName = serverName
    }
}
