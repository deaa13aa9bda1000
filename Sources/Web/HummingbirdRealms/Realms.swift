// SPDX-License-Identifier: Apache-2.0

internal import CoreMetrics
public import Hummingbird
public import Logging
public import LoginConf
internal import NIOCore
internal import OpenSSLKit
public import RealmConfiguration
public import RealmKit
public import ServiceLifecycle
public import Sessions
internal import SignIn

@_exported public import func RealmConfiguration.exitOnConfigurationErrors

/// The realms of a realms.conf, ready to protect the routes of an application.
///
/// Create it once, before the application, and add it to the services of the application. The service ends expired
/// sessions and the sessions of users who have changed. If it does not run, these sessions do not end.
public final class Realms: Service {
    /// The contents of realms.conf.
    public let configuration: Configuration
    let access: RealmAccess
    let files: ConfigurationFiles
    let logger: Logger
    let service: SignInService

    /// Reads and checks a configuration, and restores the sessions and locks of the previous run.
    ///
    /// - Parameters:
    ///   - path: The path of realms.conf.
    ///   - kinds: The kinds of realms that the file may use.
    ///   - state: The store of sessions and locks: `.store` of the product Store, which links SQLite. By default it is that of
    ///     the kinds, which `builtInRealms` have; without one, sessions and locks end with the program.
    ///   - properties: The values of `${name}`, in addition to the system properties.
    ///   - logger: The log of realms, logins and sessions.
    /// - Throws: `ConfigurationErrors` with all errors of the configuration.
    public convenience init(
        _ path: String = "realms.conf",
        kinds: [RealmKind],
        state: ProgramState? = nil,
        properties: [String: String] = [:],
        logger: Logger
    ) async throws(ConfigurationErrors) {
        let loader = ConfigurationLoader(
            kinds,
            files: .system,
            clock: SystemClock(),
            properties: SystemProperties.all.merging(properties) { _, given in given },
            services: ProgramServices(state ?? kinds.state, access: .createIfMissing, log: RealmLog(logger))
        )
        try await self.init(try loader.load(path), files: .system, logger: logger)
    }

    /// Creates the realms of a configuration, and restores the sessions and locks of the previous run.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: The access to the files of the certificate.
    ///   - logger: The log of realms, logins and sessions.
    /// - Throws: `ConfigurationErrors` when the state folder cannot be used, for example because another server uses it.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger
    ) async throws(ConfigurationErrors) {
        self.configuration = configuration
        self.files = files
        self.logger = logger
        for warning in configuration.warnings { logger.warning("\(warning.logLine)") }
        if configuration.services[SessionStorage.self] == nil {
            logger.notice(
                "sessions and locks end with this program: it has no store (state: .store of the product Store)"
            )
        }
        service = try SignInService(configuration, logger: logger, metrics: MetricsSystem.factory)
        do throws(OpenSSLError) {
            // HSTS is sent only with a configured certificate: clients do not trust a development certificate.
            access = try RealmAccess(
                configuration,
                service: service,
                isCertificateTrusted: configuration.server.tls.files != nil
            )
        } catch {
            throw configuration.server.stateFolder.errors("no random bytes can be generated: \(error)")
        }
        try await service.restore(configuration)
    }

    /// The first address of `listen`.
    ///
    /// Hummingbird listens on one address only. The limits of the `server` block do not apply to Hummingbird's server.
    public var address: BindAddress {
        guard let first = configuration.server.listen.first?.value else { return .hostname("127.0.0.1", port: 0) }
        return .hostname(first.host, port: first.port)
    }

    /// Maintains sessions, failed logins and realms until the application ends.
    public func run() async throws {
        defer { service.unlockStateFolder() }
        await withTaskCancellationOrGracefulShutdownHandler {
            await cancelWhenGracefulShutdown { await self.service.run() }
        } onCancelOrGracefulShutdown: {
            self.service.endEventStreams()
        }
    }

    /// Watches a session, so that a long response can end with the session.
    ///
    /// An example of such a response is a stream of events.
    ///
    /// - Parameter session: The session.
    /// - Returns: The watch.
    /// - Throws: `SessionFault` when the session has ended, or when there are too many watches and streams.
    public func watch(_ session: Session) throws(SessionFault) -> SessionWatch {
        SessionWatch(realms: self, events: try access.events(of: session))
    }

    /// Waits for a graceful shutdown, and then ends all event streams.
    ///
    /// Hummingbird waits for open responses before it stops its services, so a service could not end the streams in
    /// time.
    func closeAtShutdown() async {
        // If the stream ends before a shutdown, the task is cancelled.
        if (try? await gracefulShutdown()) != nil { service.endEventStreams() }
    }
}

extension Realms {
    /// Runs an application with its services until SIGTERM or SIGINT.
    ///
    /// - Parameter application: The application, with the realms among its services.
    /// - Throws: `ConfigurationErrors` with the line of `listen`, if the application cannot listen on ``address``; the
    ///   errors of the application otherwise.
    public func serve(_ application: some ApplicationProtocol) async throws {
        do {
            try await application.runService()
        } catch let error as IOError {
            guard let listen = configuration.server.listen.first, application.configuration.address == address,
                let errors = listen.bindErrors(error.errnoCode)
            else { throw error }
            throw errors
        }
    }
}

/// Waits for the end of a session, or for the shutdown of the server.
///
/// ```swift
/// let watch = try realms.watch(session)
/// return Response(status: .ok, body: ResponseBody { writer in
///     async let _ = watch.onEnd { messages.finish() }
///     for await message in messages { try await writer.write(message) }
///     try await writer.finish(nil)
/// })
/// ```
public struct SessionWatch: Sendable {
    let realms: Realms
    let events: SessionEvents

    /// Waits for the end of the session.
    ///
    /// Run it concurrently with the work that must end with the session.
    ///
    /// - Parameters:
    ///   - beat: Called every 15 seconds. A stream can use it to write something. The write fails if the client has
    ///     disconnected.
    ///   - action: Called when the session has ended, or when the shutdown of the server begins. Not called if the task
    ///     is cancelled.
    public func onEnd(beat: @Sendable () -> Void = {}, _ action: @Sendable () -> Void) async {
        await withGracefulShutdownHandler {
            for await event in events where event.event == .heartbeat { beat() }
        } onGracefulShutdown: {
            realms.service.endEventStreams()
        }
        if !Task.isCancelled { action() }
    }
}
