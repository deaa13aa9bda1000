// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import Foundation
import Logging
import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import RealmConfiguration
import RealmKit
import RealmTesting
import Sessions
import Synchronization
import Testing

@testable import Gatehouse
@testable import HTTPServer

/// A whole server but for its sockets: a configuration, and requests that are answered as bytes.
final class House: Sendable {
    let configuration: Configuration
    let gate: Gate
    let state: SignInState
    let portal: Portal
    let responder: GatehouseResponder
    let log = LogLines()

    var sessions: SessionTable { state.sessions }

    /// - Parameters:
    ///   - text: A realms.conf.
    ///   - clock: What sessions and pages are timed by.
    ///   - lanes: Which requests are answered on the event loop.
    /// - Throws: Where the configuration is none.
    init(
        _ text: String,
        clock: any LoginClock = SystemClock(),
        lanes: GatehouseResponder.Lanes = .both
    ) throws {
        let files = ConfigurationFiles(
            read: { _ in .success(ConfigurationFiles.Contents(bytes: Array(text.utf8))) },
            environment: { _ in nil }
        )
        configuration = try ConfigurationLoader(builtInRealms, files: files, clock: SystemClock()).load("realms.conf")
        let settings = configuration.server
        let wall = WallClock { Int(1_800_000_000 + clock.now / 1_000_000_000) }
        let sessions = SessionTable(settings.sessions, clock: clock, wall: wall, onEnd: { _, _ in })
        state = SignInState(
            sessions: sessions,
            tickets: try SignInTickets(),
            settings: settings.signIn,
            clock: clock,
            wall: wall,
            log: SessionLog(log.logger)
        )
        let rules = ProtectionRules(configuration.rules)
        let frame = Page.Frame(
            security: SecurityHeaders(isTrusted: true, returnTo: settings.signIn.returnTo.map(\.description)),
            places: Places(prefix: settings.signIn.prefix)
        )
        gate = Gate(
            rules: rules,
            authenticator: configuration.authenticator,
            sessions: sessions,
            verified: try VerifiedCredentials(lifetime: 3_600_000_000_000),
            clock: SystemClock()
        )
        portal = Portal(
            configuration,
            rules: rules,
            authenticator: configuration.authenticator,
            state: state,
            frame: frame
        )
        responder = GatehouseResponder(
            gate: gate,
            portal: portal,
            shelf: PageShelf(configuration.rules, frame),
            trusted: settings.trustedProxies,
            log: AccessLog(log.logger, clock: SystemClock(), isOn: true),
            lanes: lanes
        )
    }

    /// Everything that a connection says to a request whose sender then ends his side.
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
            // The same second for everybody.
            let connections = ConnectionLoop(eventLoop, HTTPLimits(), responder) { 784_111_777 }
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
            // Never reached unless there is a defect.
            try #require(ContinuousClock.now - begin < .seconds(20), "\(request.debugDescription) is not answered")
            await eventLoop.run()
            await Task.yield()
        }
        var said = ""
        while let part = try await channel.readOutbound(as: ByteBuffer.self) { said += String(buffer: part) }
        return said
    }
}

/// What a server has logged.
final class LogLines: Sendable {
    private let lines = Mutex<[String]>([])

    var text: String { lines.withLock { $0.joined(separator: "\n") } }

    var logger: Logger { Logger(label: "test", factory: { _ in Handler(lines: self) }) }

    fileprivate func add(_ line: String) { lines.withLock { $0.append(line) } }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])") }
    }
}
