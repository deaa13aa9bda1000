// SPDX-License-Identifier: Apache-2.0
// Gatehouse

public import NIOCore

/// The deadlines of a TLS handler, and its tolerance of an unclean end.
public struct OpenSSLHandlerConfiguration: Sendable {
    /// The longest time for a handshake from the start of the connection; nil for none, if the application has its own.
    ///
    /// The default is 10 seconds.
    public var handshakeTimeout: TimeAmount?

    /// The time for which `close` waits for the peer's close_notify after sending its own; nil for none, the default.
    ///
    /// RFC 8446 section 6.1 does not require to wait: each side closes its own direction.
    public var closeTimeout: TimeAmount?

    /// The longest time for the peer to close after `close(mode: .output)`; nil for no limit.
    ///
    /// The default is nil. Without a limit, the application must close connections whose peer never does.
    public var halfCloseTimeout: TimeAmount?

    /// True if an end of the stream without close_notify is accepted as an end.
    ///
    /// The default is false: it is an error. True is safe only if messages carry their own length (RFC 9112 section
    /// 9.8), so that one that is cut off is detected.
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
