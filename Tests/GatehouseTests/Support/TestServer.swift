// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import HTTPLimits
import Logging
import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import RealmConfiguration
import RealmKit
import RealmTesting
import Sessions
import Store
import Synchronization
import Testing
import Throttle

@testable import AccessControl
@testable import Gatehouse
@testable import HTTPServer
@testable import SignIn

/// A server without sockets: the service and the responder of the product, with clocks and stores of a test.
///
/// Requests and responses are passed as bytes.
final class TestServer: Sendable {
    let configuration: Configuration
    let service: SignInService
    let signIn: SignIn
    let responder: GatehouseResponder
    let log = LogLines()

    var accessController: AccessController { signIn.accessController }
    var sessions: SessionTable { service.sessions }

    /// - Parameters:
    ///   - text: A realms.conf.
    ///   - store: The store of sessions.
    ///   - clock: The clock of the server.
    ///   - lanes: The lanes that are used.
    ///   - places: The requests in progress.
    ///   - throttle: The throttle of logins; nil for one that neither delays nor locks.
    ///   - announcements: The store of the message to all users.
    ///   - kinds: Further types of realms and modules, in addition to the built-in types.
    ///   - others: The contents of the other files, by path.
    /// - Throws: An error if the configuration is invalid.
    init(
        _ text: String,
        store: (any SessionStore)? = nil,
        clock: any LoginClock = SystemClock(),
        lanes: GatehouseResponder.Lanes = .both,
        places: RequestPlaces = RequestPlaces(HTTPLimits()),
        throttle: FailureThrottle? = nil,
        announcements: GatehouseStore? = nil,
        kinds: [RealmKind] = [],
        files others: [String: [UInt8]] = [:]
    ) throws {
        let files = ConfigurationFiles(
            read: { path in .success(others[path] ?? Array(text.utf8)) },
            environment: { _ in nil }
        )
        configuration = try ConfigurationLoader(builtInRealms + kinds, files: files, clock: SystemClock())
            .load("realms.conf")
        let wall = WallClock { Int(1_800_000_000 + clock.now / 1_000_000_000) }
        service = try SignInService(
            configuration,
            logger: log.logger,
            sessions: store,
            announcement: announcements.map { store in { @Sendable in try await store.announcement() } },
            clock: clock,
            wallClock: wall
        ) { _, _ in throttle ?? Self.throttleWithoutEffect(clock) }
        signIn = try SignIn(configuration, service: service, isCertificateTrusted: true)
        responder = try GatehouseResponder(
            configuration,
            signIn,
            log: AccessLog(LoggerAccessLog(log.logger), clock: SystemClock(), isEnabled: true),
            places: places,
            wallClock: wall,
            lanes: lanes
        )
    }

    private static func throttleWithoutEffect(_ clock: any LoginClock) -> FailureThrottle {
        var settings = ThrottleSettings()
        settings.failures = 1_000_000
        settings.sourceFailures = 1_000_000
        settings.delay = .zero
        return FailureThrottle(settings, clock: clock, wall: { 0 }, jitter: { 0 })
    }

    /// Sends a request, half-closes the connection, and returns the bytes of the response.
    func bytes(
        _ request: String,
        from peer: String = "127.0.0.1",
        by responder: (any Responder)? = nil
    ) async throws -> String {
        let responder = responder ?? self.responder
        let eventLoop = NIOAsyncTestingEventLoop()
        let channel = NIOAsyncTestingChannel(loop: eventLoop)
        try await eventLoop.executeInContext {
            channel.remoteAddress = try SocketAddress(ipAddress: peer, port: 1)
            // All connections have the same time.
            let connections = EventLoopState(eventLoop, limits: HTTPLimits(), responder: responder) { 784_111_777 }
            connections.start()
            let handler = HTTP1Handler(connections, onError: { _, _ in }, onEnd: {})
            try channel.pipeline.syncOperations.addHandler(handler)
            channel.connect(to: try SocketAddress(ipAddress: peer, port: 1), promise: nil)
            channel.pipeline.fireUserInboundEventTriggered(
                TLSHandshakeCompleted(negotiatedProtocol: nil, version: .tls13, cipher: "TLS_AES_128_GCM_SHA256")
            )
            channel.pipeline.fireChannelRead(ByteBuffer(string: request))
            channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
        }
        await eventLoop.run()
        let isClosed = Mutex(false)
        channel.closeFuture.whenComplete { _ in isClosed.withLock { $0 = true } }
        let begin = ContinuousClock.now
        while !isClosed.withLock({ $0 }) {
            // The test waits this long only if the server has a defect.
            try #require(ContinuousClock.now - begin < .seconds(60), "\(request.debugDescription) is not answered")
            await eventLoop.run()
            await Task.yield()
        }
        var output = ""
        while let part = try await channel.readOutbound(as: ByteBuffer.self) { output += String(buffer: part) }
        return output
    }
}
