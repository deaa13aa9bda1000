// SPDX-License-Identifier: Apache-2.0

internal import ConfiguredTLS
public import Hummingbird
internal import HummingbirdCore
internal import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import OpenSSLKit
internal import Synchronization

extension HTTPServerBuilder {
    /// Returns a server for HTTP/1.1 over TLS by the system's OpenSSL, with the certificates of realms.conf.
    ///
    /// Browsers send session cookies over TLS only. ``Realms/reload()`` reads the certificates again. Use
    /// `.http1()` for a server behind a proxy that terminates TLS.
    ///
    /// - Parameters:
    ///   - realms: The realms. The `tls` block of their configuration names the certificate. If the block names no
    ///     certificate, a development certificate is used.
    ///   - http1: The settings of HTTP/1.1. By default, idle connections are closed after 60 seconds.
    /// - Returns: The builder of the server.
    /// - Throws: `ConfigurationErrors` with the lines of the settings that cannot be used.
    public static func openSSL(
        _ realms: Realms,
        http1: HTTP1Channel.Configuration = HTTP1Channel.Configuration(idleTimeout: .seconds(60))
    ) throws(ConfigurationErrors) -> HTTPServerBuilder {
        let tls = try realms.loadTLS()
        return HTTPServerBuilder { responder in
            OpenSSLChannel(base: HTTP1Channel(responder: responder, configuration: http1), tls: tls)
        }
    }
}

/// The TLS of an application, and its open connections.
final class ApplicationTLS: Sendable {
    private struct State {
        var tls: ServerTLS
        var connections: [ObjectIdentifier: any Channel] = [:]
    }

    private let state: Mutex<State>

    init(_ tls: ServerTLS) { state = Mutex(State(tls: tls)) }

    var current: ServerTLS { state.withLock { $0.tls } }

    /// Adds a connection until it is closed, and returns the context for its handshake.
    func begin(_ channel: any Channel) -> TLSContext {
        let id = ObjectIdentifier(channel)
        channel.closeFuture.whenComplete { _ in self.state.withLock { $0.connections[id] = nil } }
        return state.withLock { state in
            state.connections[id] = channel
            return state.tls.context
        }
    }

    /// Replaces the TLS of new connections, and closes the open ones after their requests if they are to be retired.
    func replace(with tls: ServerTLS, retiringConnections isRetiring: Bool) {
        let retired = state.withLock { state in
            state.tls = tls
            return isRetiring ? Array(state.connections.values) : []
        }
        for channel in retired { channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent()) }
    }
}

/// A channel that runs another channel over TLS.
private struct OpenSSLChannel<Base: ServerChildChannel>: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let base: Base.Value
        let certificate: ConnectionCertificate

        var channel: any Channel { base.channel }
    }

    let base: Base
    let tls: ApplicationTLS

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let certificate = ConnectionCertificate()
        return channel.eventLoop.makeCompletedFuture {
            // `close_notify` detects truncation. It is not required here, because HTTP/1.1 detects truncated requests.
            let configuration = OpenSSLHandlerConfiguration(
                halfCloseTimeout: .seconds(5),
                toleratesUncleanShutdown: true
            )
            let handler = try OpenSSLHandler(server: tls.begin(channel), configuration: configuration)
            let recorder = HandshakeRecorder(handler, storingIn: certificate)
            try channel.pipeline.syncOperations.addHandlers([handler, recorder])
        }.flatMap {
            base.setup(channel: channel, logger: logger).map { Value(base: $0, certificate: certificate) }
        }
    }

    func handle(value: Value, logger: Logger) async {
        await ConnectionCertificate.$current.withValue(value.certificate) {
            await base.handle(value: value.base, logger: logger)
        }
    }
}

/// The verified client certificate of a TLS connection, and the server name that the client sent.
///
/// Hummingbird runs all requests of a connection in one task. A task-local value therefore belongs to one connection.
final class ConnectionCertificate: Sendable {
    /// The certificate of the connection whose request the task processes; nil without TLS by the system's OpenSSL.
    @TaskLocal static var current: ConnectionCertificate?

    /// The values that the handshake has found.
    struct Handshake: Sendable {
        /// The server name; nil if the client sent none.
        var serverName: String?
        /// The verified chain of the client's certificate; empty if the client sent no certificate.
        var chain: [Certificate] = []
    }

    private let state = Mutex(Handshake())

    var handshake: Handshake { state.withLock { $0 } }

    fileprivate func complete(_ handshake: Handshake) { state.withLock { $0 = handshake } }
}

/// Stores the values of the handshake in a ``ConnectionCertificate`` before the first request is read.
final class HandshakeRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tls: OpenSSLHandler
    private let certificate: ConnectionCertificate

    /// Creates the handler that follows a TLS handler in the pipeline.
    init(_ tls: OpenSSLHandler, storingIn certificate: ConnectionCertificate) {
        self.tls = tls
        self.certificate = certificate
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if let event = event as? TLSHandshakeCompleted {
            certificate.complete(.init(serverName: event.serverName, chain: tls.verifiedPeerChain()))
        }
        context.fireUserInboundEventTriggered(event)
    }
}

struct ClientConnection: Sendable {
    /// The address at the other end of the connection; nil if it is not known.
    let peer: String?
    /// The client certificate of the connection; nil if the TLS of the connection is not the system's OpenSSL.
    let certificate: ConnectionCertificate?
}
