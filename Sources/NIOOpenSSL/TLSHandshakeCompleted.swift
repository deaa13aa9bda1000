// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import OpenSSLKit

/// The user event a TLS handler fires once, when its handshake is done and before any plaintext.
public struct TLSHandshakeCompleted: Sendable, Hashable {
    /// The application protocol (RFC 7301); nil if none was negotiated.
    public let negotiatedProtocol: String?
    /// The version of TLS.
    public let version: TLSVersion
    /// The cipher suite by its name in the IANA registry.
    public let cipher: String
    /// Whether a session was resumed.
    public let isResumed: Bool

    /// Makes an event out of its parts.
    public init(negotiatedProtocol: String?, version: TLSVersion, cipher: String, isResumed: Bool = false) {
        self.negotiatedProtocol = negotiatedProtocol
        self.version = version
        self.cipher = cipher
        self.isResumed = isResumed
    }
}
