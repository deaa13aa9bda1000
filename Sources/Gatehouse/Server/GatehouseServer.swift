// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
public import ConfiguredTLS
internal import Glibc
internal import HTTPLimits
internal import HTTPServer
public import Logging
public import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit
public import RealmConfiguration
public import ServiceLifecycle
internal import SignIn
internal import UnixSignals

/// A TLS server that protects web endpoints with realms.
///
/// The initializer checks the configuration and binds no address. ``run()`` listens until the graceful shutdown of its
/// `ServiceGroup`, or until its task is cancelled. It then waits for open requests. SIGHUP reloads the configuration.
public struct GatehouseServer: Service {
    /// The time that open requests have to finish at a shutdown: 10 seconds.
    public static let drainTime = Duration.seconds(10)

    /// The certificates and the other settings of TLS.
    public let tls: ServerTLS
    private let configuration: Configuration
    private let files: ConfigurationFiles
    private let logger: Logger
    private let accessLogger: Logger
    private let onListening: @Sendable (String) -> Void
    private let reload: @Sendable () throws(ConfigurationErrors) -> Configuration
    private let signIn: SignInService

    /// Creates a server for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: The access to the files of the certificate.
    ///   - logger: The log of the server.
    ///   - accessLogger: The access log, with one line for each request.
    ///   - onListening: Called with the URL of each address on which the server listens, such as
    ///     `https://127.0.0.1:8443`.
    ///   - reload: Reads the configuration again; called at SIGHUP.
    /// - Throws: ``ConfigurationErrors`` when the certificate, its key or the state folder cannot be used.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger,
        accessLogger: Logger,
        onListening: @escaping @Sendable (String) -> Void,
        reload: @escaping @Sendable () throws(ConfigurationErrors) -> Configuration
    ) throws(ConfigurationErrors) {
        tls = try ServerTLS.load(
            configuration.server,
            files: files,
            applicationProtocols: (configuration.server.hasHTTP2 ? ["h2"] : []) + ["http/1.1", "http/1.0"]
        )
        signIn = try SignInService(configuration, logger: logger)
        self.configuration = configuration
        self.files = files
        self.logger = logger
        self.accessLogger = accessLogger
        self.onListening = onListening
        self.reload = reload
    }

    /// Listens until the graceful shutdown of the service group, or until the task is cancelled.
    ///
    /// - Throws: ``ConfigurationErrors`` when an address cannot be bound. In this case the server listens on no
    ///   address.
    public func run() async throws(ConfigurationErrors) {
        let threads = configuration.server.threads ?? Processors.count
        let limits = DescriptorLimit.limits(
            configuration.server.limits,
            threads: threads,
            listeners: configuration.server.listen.count
        )
        let group = MultiThreadedEventLoopGroup(numberOfThreads: threads)
        let result = await serve(on: group, limits: limits)
        do {
            try await group.shutdownGracefully()
        } catch {
            logger.notice("the event loops could not be shut down", metadata: ["error": "\(error)"])
        }
        try result.get()
    }

    private func serve(
        on group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits
    ) async -> Result<Void, ConfigurationErrors> {
        let contexts = TLSContextSource(tls.context)
        let server: HTTPListener
        do throws(ConfigurationErrors) {
            try await signIn.restore(configuration)
        } catch {
            return .failure(error)
        }
        do {
            server = try await makeServer(on: group, limits: limits, contexts: contexts)
        } catch {
            return .failure(configuration.server.stateFolder.errors("the server cannot be set up: \(error)"))
        }
        // The signal handler is set before `onListening` is called, because the caller may then send a signal at once.
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        // No request is served before all addresses are bound.
        var channels: [any Channel] = []
        for address in configuration.server.listen {
            do {
                channels.append(try await server.listen(host: address.host, port: address.port))
            } catch {
                await stop(server, listeners: channels)
                return .failure(BindErrors.errors(error, address))
            }
        }
        for (channel, address) in zip(channels, configuration.server.listen) {
            let port = channel.localAddress?.port ?? address.port
            onListening("https://\(ServerSettings.Address(host: address.host, port: port))")
        }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await signIn.run() }
            group.addTask {
                var active = ActiveConfiguration(configuration: configuration, tls: tls)
                for await _ in hangups {
                    // A signal that was sent before the shutdown may arrive here after the shutdown has begun.
                    guard !Task.isCancelled else { return }
                    active = await reloaded(active, server: server, contexts: contexts)
                }
            }
            await Self.untilShutdown()
            await stop(server, listeners: channels)
            group.cancelAll()
        }
        return .success(())
    }

    /// Returns when the graceful shutdown of the service group begins, or the task is cancelled.
    private static func untilShutdown() async {
        do {
            try await gracefulShutdown()
        } catch {
            // A cancellation of the task stops the server in the same way.
        }
    }

    /// The configuration in use.
    private struct ActiveConfiguration {
        let configuration: Configuration
        let tls: ServerTLS
    }

    /// Reloads the configuration.
    ///
    /// If the new configuration has an error, the present configuration stays in use.
    ///
    /// Open connections stay open, and the new rules and realms apply to their next requests. New connections get the
    /// new certificates. Cached credentials are verified again. If the old or the new configuration requests client
    /// certificates, open connections are closed after their open requests.
    ///
    /// - Parameters:
    ///   - before: The configuration in use.
    ///   - server: The listener that gets the new responder.
    ///   - contexts: The source of TLS contexts that gets the new certificates.
    /// - Returns: The configuration that is now in use.
    private func reloaded(
        _ before: ActiveConfiguration,
        server: HTTPListener,
        contexts: TLSContextSource
    ) async -> ActiveConfiguration {
        do {
            let configuration = try reload()
            guard configuration.server.stateFolder.value == self.configuration.server.stateFolder.value else {
                // After a change of the folder, users would be in the new store, but locks and sessions in the old
                // store.
                throw configuration.server.stateFolder.errors(
                    "the state folder cannot be changed while the server runs"
                )
            }
            let tls = try before.tls.reloaded(configuration.server, files: files)
            await RealmRefresher.runFirstChecks(configuration.realms)
            let responder = try makeResponder(configuration, tls, isReload: true)
            signIn.countReload()
            server.replaceResponder(with: responder)
            await signIn.recheck(configuration)
            contexts.replace(with: tls.context)
            // The client certificates of open connections were verified by the old configuration.
            let requirements = [before.configuration, configuration].map(\.server.tls.clientCertificates)
            if requirements.contains(where: { $0 != .none }) { server.retireConnections() }
            for warning in configuration.warnings.map(\.rendered) + tls.warnings { logger.warning("\(warning)") }
            for name in Self.changesThatNeedRestart(from: self.configuration.server, to: configuration.server) {
                logger.warning("\(name) has changed; the change needs a restart")
            }
            logger.notice("the configuration was reloaded")
            return ActiveConfiguration(configuration: configuration, tls: tls)
        } catch {
            logger.error("the configuration was not reloaded:\n\(error)")
            return before
        }
    }

    /// Returns the names of the changed settings that a reload cannot apply.
    ///
    /// These settings are read only when the server starts.
    private static func changesThatNeedRestart(from start: ServerSettings, to now: ServerSettings) -> [String] {
        var names: [String] = []
        if start.listen.map(\.value) != now.listen.map(\.value) { names.append("listen") }
        if start.threads != now.threads { names.append("threads") }
        if start.limits != now.limits { names.append("limits") }
        if start.throttle != now.throttle { names.append("throttle") }
        if start.signIn.time != now.signIn.time || start.signIn.waiting != now.signIn.waiting {
            names.append("time or waiting of sign-in")
        }
        return names
    }

    private func makeResponder(
        _ configuration: Configuration,
        _ tls: ServerTLS,
        isReload: Bool = false
    ) throws -> GatehouseResponder {
        let settings = configuration.server
        let components = try signIn.components(
            for: configuration,
            isCertificateTrusted: !tls.certificate.isDevelopment,
            isReload: isReload
        )
        let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
        return GatehouseResponder(
            accessController: components.accessController,
            signIn: hasForm ? components.signIn : nil,
            realmAPI: components.realmAPI,
            responses: PreparedResponses(components.renderer),
            identityTokens: try IdentityTokenSource(settings, clock: .system),
            proxies: TrustedProxies(settings.trustedProxies, setForwardedHost: settings.trustsForwardedHost),
            log: AccessLog(accessLogger, clock: SystemClock(), isEnabled: settings.hasAccessLog),
            requestsCertificates: settings.tls.clientCertificates != .none
        )
    }

    private func makeServer(
        on group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits,
        contexts: TLSContextSource
    ) async throws -> HTTPListener {
        let logger = logger
        return try await HTTPListener(
            group: group,
            limits: limits,
            responder: try makeResponder(configuration, tls),
            clock: { Int(time(nil)) },
            makeTLS: {
                try makeServerHandler(
                    context: contexts.current,
                    // HTTP detects truncated requests, so TLS does not have to require `close_notify`. The listener
                    // sets the deadlines of all connections, including the deadline of the handshake.
                    configuration: OpenSSLHandlerConfiguration(handshakeTimeout: nil, toleratesUncleanShutdown: true)
                )
            },
            onError: { error, connection in ConnectionErrorLog.log(error, connection, logger) }
        )
    }

    /// Closes the listeners and waits for open requests, at most ``drainTime``.
    private func stop(_ server: HTTPListener, listeners: [any Channel]) async {
        for listener in listeners { listener.close(promise: nil) }
        // Event streams have no end of their own, so the server ends them.
        signIn.close()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await server.drain()
                return true
            }
            group.addTask {
                do {
                    try await Task.sleep(for: Self.drainTime)
                    return false
                } catch {
                    return true
                }
            }
            if await group.next() == false { logger.notice("some requests were open too long") }
            // Cancelling the tasks closes the remaining connections.
            group.cancelAll()
        }
    }
}
