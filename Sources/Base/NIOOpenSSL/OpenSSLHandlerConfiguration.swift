// SPDX-License-Identifier: Apache-2.0

public import NIOCore

/// The time limits of a TLS handler, and whether it accepts an end without close_notify.
public struct OpenSSLHandlerConfiguration: Sendable {
    /// The time limit for the handshake, from the start of the connection; nil for no limit.
    ///
    /// The default is 10 seconds. Use nil only if the application has its own limit.
    public var handshakeTimeout: TimeAmount?
    /// The time limit for the peer to close after `close(mode: .output)`; nil, the default, for no limit.
    ///
    /// Without a limit, the application must close connections that the peer never closes.
    public var halfCloseTimeout: TimeAmount?
    /// True if an end of the stream without close_notify is not an error; false by default.
    ///
    /// True is safe only if each message contains its length, so that missing data is detected (RFC 9112 section 9.8).
    public var toleratesUncleanShutdown: Bool
    /// The bytes that a server sends to a client that speaks plain HTTP; nil, the default, to send a TLS alert.
    ///
    /// A whole HTTP/1.1 response with `Connection: close` tells people to use https.
    public var plainHTTPResponse: ByteBuffer?

    /// Makes a configuration.
    public init(
        handshakeTimeout: TimeAmount? = .seconds(10),
        halfCloseTimeout: TimeAmount? = nil,
        toleratesUncleanShutdown: Bool = false,
        plainHTTPResponse: ByteBuffer? = nil
    ) {
        self.handshakeTimeout = handshakeTimeout
        self.halfCloseTimeout = halfCloseTimeout
        self.toleratesUncleanShutdown = toleratesUncleanShutdown
        self.plainHTTPResponse = plainHTTPResponse
    }
}
