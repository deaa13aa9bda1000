// SPDX-License-Identifier: Apache-2.0

public import ConfiguredTLS
internal import HTTPLimits
internal import HTTPServer
public import Logging
public import LoginConf
internal import NIOCore
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
/// It reports its states to the service manager: that it listens, each reload, the stop, and, as long as all event
/// loops run, that it is alive.
public struct GatehouseServer: Service {
    /// The time that open requests have to finish at a shutdown: 10 seconds.
    public static let drainTime = Duration.seconds(10)

    /// The certificates and the other settings of TLS.
    public let tls: ServerTLS
    let configuration: Configuration
    let serviceManager: ServiceManager
    let logger: Logger
    let files: ConfigurationFiles
    let accessLog: any AccessLogOutput
    private let onListening: @Sendable (String) -> Void
    let reload: @Sendable () throws(ConfigurationErrors) -> Configuration
    let service: SignInService
    let places: RequestPlaces
    /// Nil if the configuration has no `metrics` block.
    let metrics: ServerMetrics?

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
        service = try SignInService(configuration, logger: logger, metrics: metrics?.registry)
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
        defer { service.unlockStateFolder() }
        do throws(ConfigurationErrors) {
            try await service.restore(configuration)
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
        if let fault = serviceManager.notify(.ready, ready) {
            logger.warning("the service manager is not notified", metadata: ["error": "\(fault)"])
        }
        await withTaskGroup(of: Void.self) { tasks in
            tasks.addTask { await service.run() }
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
                while (try? await Task.sleep(for: Self.certificateCheckTime)) != nil { send.yield(.certificateCheck) }
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
            // A cancellation of the task stops the server in the same way.
            try? await gracefulShutdown()
            metrics?.beginStopping()
            serviceManager.notify(.stopping, .status("waiting for open requests"))
            await stop(server, listeners: listening.channels)
            tasks.cancelAll()
        }
        return .success(())
    }

    private static let reloadHasFailed = NotifyState.status(
        "the new configuration has errors, which are in the log; the server runs with the configuration before it"
    )

    /// The time between two checks of the certificates: a day.
    private static let certificateCheckTime = Duration.seconds(86_400)

    private enum Event {
        case hangup
        case certificateCheck
    }

    /// Closes the listeners and waits for open requests, at most ``drainTime``.
    private func stop(_ server: HTTPListener, listeners: [any Channel]) async {
        for listener in listeners { listener.close(promise: nil) }
        // Event streams have no end of their own, so the server ends them.
        service.endEventStreams()
        await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await server.drain()
                return true
            }
            // False after the whole time; true if the sleep is cancelled.
            group.addTask { (try? await Task.sleep(for: Self.drainTime)) == nil }
            if await group.next() == false { logger.notice("some requests were open too long") }
            // Cancelling the tasks closes the remaining connections.
            group.cancelAll()
        }
    }
}
