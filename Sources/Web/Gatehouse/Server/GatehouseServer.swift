// SPDX-License-Identifier: Apache-2.0

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
///
/// It reports its states to the service manager: that it listens, each reload, the stop, and, as long as all event loops
/// run, that it is alive.
public struct GatehouseServer: Service {
    /// The time that open requests have to finish at a shutdown: 10 seconds.
    public static let drainTime = Duration.seconds(10)

    /// The certificates and the other settings of TLS.
    public let tls: ServerTLS
    let configuration: Configuration
    let serviceManager: ServiceManager
    let logger: Logger
    private let files: ConfigurationFiles
    private let accessLog: any AccessLogOutput
    private let onListening: @Sendable (String) -> Void
    private let reload: @Sendable () throws(ConfigurationErrors) -> Configuration
    private let signIn: SignInService
    private let places: RequestPlaces
    /// Nil if the configuration has no `metrics` block.
    private let metrics: ServerMetrics?

    /// Creates a server for a configuration.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: The access to the files of the certificate.
    ///   - logger: The log of the server.
    ///   - accessLog: Takes the lines of the access log, one for each request.
    ///   - serviceManager: The program that has started this process as a service. The server listens on its sockets
    ///     instead of the configured addresses if it has passed any. `none` for a process without a service manager.
    ///   - onListening: Called with the URL of each address on which the server listens, such as
    ///     `https://127.0.0.1:8443`.
    ///   - reload: Reads the configuration again; called at SIGHUP.
    /// - Throws: ``ConfigurationErrors`` when the certificate, its key or the state folder cannot be used.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger,
        accessLog: any AccessLogOutput,
        serviceManager: ServiceManager,
        onListening: @escaping @Sendable (String) -> Void,
        reload: @escaping @Sendable () throws(ConfigurationErrors) -> Configuration
    ) throws(ConfigurationErrors) {
        tls = try ServerTLS.load(
            configuration.server,
            files: files,
            clock: .system,
            applicationProtocols: (configuration.server.hasHTTP2 ? ["h2"] : []) + ["http/1.1", "http/1.0"]
        )
        metrics = configuration.server.metricsAddresses.isEmpty ? nil : ServerMetrics()
        signIn = try SignInService(configuration, logger: logger, metrics: metrics?.registry)
        places = RequestPlaces(configuration.server.limits)
        self.configuration = configuration
        self.files = files
        self.logger = logger
        self.accessLog = accessLog
        self.serviceManager = serviceManager
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
            listeners: max(configuration.server.listen.count, serviceManager.sockets.count)
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
        defer { signIn.releaseState() }
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
        // The state of the server can be asked from here on, so these addresses come first.
        let metricsChannels: [any Channel]
        do throws(ConfigurationErrors) {
            metricsChannels = try await listenForMetrics(on: group)
        } catch {
            await stop(server, listeners: [])
            return .failure(error)
        }
        defer { for channel in metricsChannels { channel.close(promise: nil) } }
        let listening: Listening
        do throws(BindFailure) {
            listening = try await listen(server)
        } catch {
            await stop(server, listeners: error.channels)
            return .failure(error.errors)
        }
        reportCertificates(ActiveConfiguration(configuration: configuration, tls: tls))
        metrics?.beginServing { server.connectionCount }
        for url in listening.urls { onListening(url) }
        let ready = NotifyState.status("listening on \(listening.urls.joined(separator: ", "))")
        // Later messages would fail in the same way, so only this one is logged.
        if let fault = serviceManager.report(.ready, ready) {
            logger.warning("the service manager is not notified", metadata: ["error": "\(fault)"])
        }
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await signIn.run() }
            tasks.addTask { [places] in
                await MemoryTrimming.run { server.load + places.takePeak() }
            }
            if let time = serviceManager.watchdogTime {
                let watchdog = EventLoopWatchdog(loops: Array(group.makeIterator()), interval: time / 2) {
                    serviceManager.notify(.watchdog)
                }
                tasks.addTask { await watchdog.run() }
            }
            let (events, send) = AsyncStream.makeStream(of: Event.self)
            tasks.addTask { for await _ in hangups { send.yield(.hangup) } }
            tasks.addTask {
                do {
                    while true {
                        try await Task.sleep(for: Self.certificateCheckTime)
                        send.yield(.certificateCheck)
                    }
                } catch {
                    // The server stops.
                }
            }
            tasks.addTask {
                var active = ActiveConfiguration(configuration: configuration, tls: tls)
                for await event in events {
                    // A signal that was sent before the shutdown may arrive here after the shutdown has begun.
                    guard !Task.isCancelled else { return }
                    switch event {
                    case .certificateCheck:
                        active = renewed(active, contexts: contexts)
                        reportCertificates(active)
                    case .hangup:
                        serviceManager.notify(.reloading, .status("reloading the configuration"))
                        let new = await reloaded(active, server: server, contexts: contexts)
                        serviceManager.notify(.ready, new == nil ? Self.reloadHasFailed : ready)
                        active = new ?? active
                    }
                }
            }
            await Self.untilShutdown()
            metrics?.beginStopping()
            serviceManager.notify(.stopping, .status("waiting for open requests"))
            await stop(server, listeners: listening.channels)
            tasks.cancelAll()
        }
        return .success(())
    }

    /// Listens on the addresses of the `metrics` block.
    ///
    /// - Returns: The listening channels; none if there is no block.
    /// - Throws: ``ConfigurationErrors`` when an address cannot be bound. In this case no channel is open.
    private func listenForMetrics(on group: any EventLoopGroup) async throws(ConfigurationErrors) -> [any Channel] {
        guard let metrics else { return [] }
        let listener = MetricsListener(metrics: metrics, group: group)
        var channels: [any Channel] = []
        for address in configuration.server.metricsAddresses {
            do {
                let channel = try await listener.listen(host: address.host, port: address.port)
                channels.append(channel)
                let bound = ServerSettings.Address(host: address.host, port: channel.localAddress?.port ?? address.port)
                logger.notice("metrics are served", metadata: ["url": "http://\(bound)/metrics"])
            } catch {
                for channel in channels { channel.close(promise: nil) }
                throw BindErrors.errors(error, address)
            }
        }
        return channels
    }

    private static let reloadHasFailed = NotifyState.status(
        "the new configuration has errors, which are in the log; the server runs with the configuration before it"
    )

    /// Returns when the graceful shutdown of the service group begins, or the task is cancelled.
    private static func untilShutdown() async {
        do {
            try await gracefulShutdown()
        } catch {
            // A cancellation of the task stops the server in the same way.
        }
    }

    /// The time between two checks of the certificates: a day.
    private static let certificateCheckTime = Duration.seconds(86_400)

    private enum Event {
        case hangup
        case certificateCheck
    }

    /// Logs the certificates that have expired or expire soon, and sets their metrics.
    private func reportCertificates(_ active: ActiveConfiguration) {
        let certificates = ExpiringCertificates(active.configuration, files: files)
        for warning in certificates.warnings(at: .system) { logger.warning("\(warning.logLine)") }
        metrics?.setCertificateExpiry(active.tls.firstExpiry, byFile: certificates.expiryByFile)
    }

    /// Replaces a development certificate that expires soon.
    ///
    /// - Parameters:
    ///   - active: The configuration in use.
    ///   - contexts: The source of TLS contexts that gets the new certificate.
    /// - Returns: The configuration to use.
    private func renewed(_ active: ActiveConfiguration, contexts: TLSContextSource) -> ActiveConfiguration {
        guard active.tls.isRenewalDue else { return active }
        do throws(ConfigurationErrors) {
            let tls = try active.tls.renewed(active.configuration.server, files: files)
            contexts.replace(with: tls.context)
            logger.notice("the development certificate was renewed", metadata: ["file": "\(tls.certificate.file)"])
            return ActiveConfiguration(configuration: active.configuration, tls: tls)
        } catch {
            for reason in Self.reasons(error) {
                logger.error("the development certificate cannot be renewed: \(reason)")
            }
            return active
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
    /// - Returns: The new configuration; nil if the present one stays in use.
    private func reloaded(
        _ before: ActiveConfiguration,
        server: HTTPListener,
        contexts: TLSContextSource
    ) async -> ActiveConfiguration? {
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
            metrics?.countReload(isSuccess: true)
            signIn.countReload(to: configuration)
            server.replaceResponder(with: responder)
            await signIn.recheck(configuration)
            contexts.replace(with: tls.context)
            // The client certificates of open connections were verified by the old configuration.
            let requirements = [before.configuration, configuration].map(\.server.tls.clientCertificates)
            if requirements.contains(where: { $0 != .none }) { server.retireConnections() }
            for warning in configuration.warnings + tls.warnings { logger.warning("\(warning.logLine)") }
            for name in Self.changesThatNeedRestart(from: self.configuration.server, to: configuration.server) {
                logger.warning("\(name) has changed; the change needs a restart")
            }
            logger.notice("the configuration was reloaded")
            let active = ActiveConfiguration(configuration: configuration, tls: tls)
            reportCertificates(active)
            return active
        } catch {
            metrics?.countReload(isSuccess: false)
            for reason in Self.reasons(error) { logger.error("the configuration was not reloaded: \(reason)") }
            return nil
        }
    }

    /// Returns the errors of a configuration, or the text of another error.
    ///
    /// Each is a text of one line, for an entry of its own in the log.
    private static func reasons(_ error: any Error) -> [String] {
        guard let errors = error as? ConfigurationErrors else { return ["\(error)"] }
        return errors.diagnostics.filter { $0.severity == .error }.map(\.logLine)
    }

    /// Returns the names of the changed settings that a reload cannot apply.
    ///
    /// These settings are read only when the server starts.
    private static func changesThatNeedRestart(from start: ServerSettings, to now: ServerSettings) -> [String] {
        var names: [String] = []
        if start.listen.map(\.value) != now.listen.map(\.value) { names.append("listen") }
        if start.threads != now.threads { names.append("threads") }
        if start.limits != now.limits { names.append("limits") }
        if start.metricsAddresses.map(\.value) != now.metricsAddresses.map(\.value) { names.append("metrics") }
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
    ) throws -> any Responder {
        let settings = configuration.server
        let components = try signIn.components(
            for: configuration,
            isCertificateTrusted: !tls.certificate.isDevelopment,
            isReload: isReload
        )
        let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
        let responder = GatehouseResponder(
            accessController: components.accessController,
            signIn: hasForm ? components.signIn : nil,
            realmAPI: components.realmAPI,
            responses: PreparedResponses(components.renderer),
            identityTokens: try IdentityTokenSource(settings, clock: .system),
            proxies: TrustedProxies(settings.trustedProxies, setForwardedHost: settings.trustsForwardedHost),
            log: AccessLog(accessLog, clock: SystemClock(), isEnabled: settings.hasAccessLog),
            places: places,
            requestsCertificates: settings.tls.clientCertificates != .none
        )
        guard let metrics else { return responder }
        return MeasuredResponder(responder: responder, metrics: metrics.requests)
    }

    private func makeServer(
        on group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits,
        contexts: TLSContextSource
    ) async throws -> HTTPListener {
        let logger = logger
        var onHandshake: (@Sendable (TLSHandshakeCompleted) -> Void)?
        if let metrics { onHandshake = { metrics.countHandshake($0) } }
        let plainHTTP = PlainHTTPLog(logger, clock: SystemClock())
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
                    configuration: OpenSSLHandlerConfiguration(
                        handshakeTimeout: nil,
                        toleratesUncleanShutdown: true,
                        plainHTTPResponse: PlainHTTPResponse.bytes
                    )
                )
            },
            onError: { [metrics] error, connection in
                metrics?.countError(error)
                ConnectionErrorLog.log(error, connection, logger, plainHTTP: plainHTTP)
            },
            onHandshake: onHandshake
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
