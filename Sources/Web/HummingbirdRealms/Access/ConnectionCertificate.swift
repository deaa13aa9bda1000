// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOOpenSSL
internal import OpenSSLKit
internal import Synchronization

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

    /// The values of the completed handshake.
    var handshake: Handshake { state.withLock { $0 } }

    fileprivate func complete(_ handshake: Handshake) { state.withLock { $0 = handshake } }
}

/// Stores the values of the handshake in a ``ConnectionCertificate`` before the first request is read.
final class HandshakeRecorder: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let tls: OpenSSLServerHandler
    private let certificate: ConnectionCertificate

    /// Creates the handler that follows a TLS handler in the pipeline.
    init(_ tls: OpenSSLServerHandler, storingIn certificate: ConnectionCertificate) {
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
