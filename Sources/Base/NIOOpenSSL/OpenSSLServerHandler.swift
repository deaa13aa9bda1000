// SPDX-License-Identifier: Apache-2.0

public import NIOCore
public import OpenSSLKit

/// The TLS handler of an accepted connection, which must be the first handler of the channel.
public final class OpenSSLServerHandler: OpenSSLHandler {
    /// Makes the handler of one channel with a server's context, which all connections of a listener share.
    ///
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a client's, or with code
    ///   `libraryFailure`.
    public init(
        context: TLSContext,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        super.init(configuration: configuration, connection: try TLSConnection.server(context: context))
    }
}

/// The TLS handler of a connection to a server, which must be the first handler of the channel.
public final class OpenSSLClientHandler: OpenSSLHandler {
    /// Makes the handler of one channel.
    ///
    /// - Parameters:
    ///   - context: A client's context.
    ///   - serverName: The host name or IP address that the server's certificate must contain.
    ///   - configuration: The time limits, and whether an end without close_notify is accepted.
    /// - Throws: ``OpenSSLError`` with code `invalidConfiguration` if the context is a server's, with code
    ///   `invalidName` for an invalid server name, or with code `libraryFailure`.
    public init(
        context: TLSContext,
        serverName: String,
        configuration: OpenSSLHandlerConfiguration = OpenSSLHandlerConfiguration()
    ) throws(OpenSSLError) {
        let connection = try TLSConnection.client(context: context, serverName: serverName)
        super.init(configuration: configuration, connection: connection)
    }
}

/// The time limits of a TLS handler, and whether it accepts an end without close_notify.
public struct OpenSSLHandlerConfiguration: Sendable {
    /// The time limit for the handshake, from the start of the connection; nil for no limit.
    ///
    /// The default is 10 seconds. Use nil only if the application has its own limit.
    public var handshakeTimeout: TimeAmount?
    /// The time for which `close` waits for the peer's close_notify; nil, the default, to close without waiting.
    ///
    /// RFC 8446 section 6.1 does not require waiting, because each side closes its own direction.
    public var closeTimeout: TimeAmount?
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
        closeTimeout: TimeAmount? = nil,
        halfCloseTimeout: TimeAmount? = nil,
        toleratesUncleanShutdown: Bool = false,
        plainHTTPResponse: ByteBuffer? = nil
    ) {
        self.handshakeTimeout = handshakeTimeout
        self.closeTimeout = closeTimeout
        self.halfCloseTimeout = halfCloseTimeout
        self.toleratesUncleanShutdown = toleratesUncleanShutdown
        self.plainHTTPResponse = plainHTTPResponse
    }
}
