// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore

/// What a TLS handler does about peers that are slow or end badly.
public struct OpenSSLHandlerConfiguration: Sendable {
    /// How long a handshake may take from the start of the connection; nil where somebody else looks after that.
    ///
    /// The default is 10 seconds.
    public var handshakeTimeout: TimeAmount?

    /// How long `close` waits for the peer's close_notify after sending its own; nil for not at all, the default.
    ///
    /// RFC 8446 6.1 asks nobody to wait: each side closes its own direction.
    public var closeTimeout: TimeAmount?

    /// How long the peer may go on after `close(mode: .output)` has ended this side's direction; nil for no bound.
    ///
    /// The default is nil. Whoever sets none looks after peers that never close.
    public var halfCloseTimeout: TimeAmount?

    /// Whether an end of the stream without close_notify is taken for an end.
    ///
    /// The default is no: it is an error. Yes is right only where messages carry their own length (RFC 9112 9.8), so
    /// that one cut off is noticed anyway.
    public var toleratesUncleanShutdown: Bool

    /// Makes a configuration.
    public init(
        handshakeTimeout: TimeAmount? = .seconds(10),
        closeTimeout: TimeAmount? = nil,
        halfCloseTimeout: TimeAmount? = nil,
        toleratesUncleanShutdown: Bool = false
    ) {
        self.handshakeTimeout = handshakeTimeout
        self.closeTimeout = closeTimeout
        self.halfCloseTimeout = halfCloseTimeout
        self.toleratesUncleanShutdown = toleratesUncleanShutdown
    }
}
