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

/// A server without sockets.
///
/// Requests and responses are passed as bytes.
final class TestServer: Sendable {
    let configuration: Configuration
    let accessController: AccessController
    let state: SignInState
    let signIn: SignInResponder
    let realmAPI: RealmAPI?
    let watch: RealmRefresher
    let responder: GatehouseResponder
    let log = LogLines()

    var sessions: SessionTable { state.sessions }

    /// - Parameters:
    ///   - text: A realms.conf.
    ///   - store: The store of sessions.
    ///   - clock: The clock of sessions and pages.
    ///   - lanes: The lanes that are used.
    ///   - places: The requests in progress.
    ///   - throttle: The throttle of logins; nil for none.
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
        throttle: (any LoginThrottle)? = nil,
        announcements: (any AnnouncementStore)? = nil,
        kinds: [RealmKind] = [],
        files others: [String: [UInt8]] = [:]
    ) throws {
        let files = ConfigurationFiles(
            read: { path in .success(ConfigurationFiles.Contents(bytes: others[path] ?? Array(text.utf8))) },
            environment: { _ in nil }
        )
        configuration = try ConfigurationLoader(builtInRealms + kinds, files: files, clock: SystemClock())
            .load("realms.conf")
        var authenticator = configuration.authenticator
        if let throttle { authenticator = authenticator.throttled(by: throttle) }
        let settings = configuration.server
        let wall = WallClock { Int(1_800_000_000 + clock.now / 1_000_000_000) }
        let sessionLog = SessionLog(log.logger)
        let logouts = LogoutQueue(clock: clock, logger: log.logger)
        let sessions = SessionTable(
            settings.sessions,
            store: store,
            clock: clock,
            wall: wall,
            onWrongHost: { session, host in sessionLog.logWrongHost(session, at: host) },
            onEnd: { session, _ in logouts.add(session.identity) }
        )
        state = SignInState(
            sessions: sessions,
            tickets: try SignInTickets(),
            settings: settings.signIn,
            clock: clock,
            wallClock: wall,
            logouts: logouts,
            announcementStore: announcements,
            log: sessionLog
        )
        let rules = ProtectionRules(configuration.rules, preflightHosts: settings.preflightHosts)
        let context = try PageContext(configuration, isCertificateTrusted: true)
        accessController = AccessController(
            rules: rules,
            authenticator: authenticator,
            sessions: sessions,
            credentialCache: try CredentialCache(lifetime: 3_600_000_000_000),
            clock: SystemClock(),
            wallClock: .system
        )
        watch = RealmRefresher(clock: clock, logger: log.logger)
        watch.use(configuration.realms, accessController: accessController, pool: nil)
        let site = SignInSite(
            configuration,
            rules: rules,
            authenticator: authenticator,
            state: state,
            refresher: watch,
            context: context,
            generation: 0
        )
        signIn = SignInResponder(site: site)
        let programLog = ProgramLog(log.logger)
        realmAPI = settings.realmAPI.map { settings in
            let programs = Programs(settings.clients, throttle: throttle as? FailureThrottle)
            return RealmAPI(site: site, programs: programs, log: programLog)
        }
        responder = GatehouseResponder(
            accessController: accessController,
            signIn: signIn,
            realmAPI: realmAPI,
            responses: PreparedResponses(ResponseRenderer(rules: configuration.rules, context: context)),
            identityTokens: try IdentityTokenSource(settings, clock: wall),
            proxies: TrustedProxies(settings.trustedProxies, setForwardedHost: settings.trustsForwardedHost),
            log: AccessLog(LoggerAccessLog(log.logger), clock: SystemClock(), isEnabled: true),
            places: places,
            lanes: lanes
        )
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
