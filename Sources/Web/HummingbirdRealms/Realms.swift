// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CoreMetrics
public import Hummingbird
public import Logging
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration
public import RealmKit
public import ServiceLifecycle
public import Sessions
internal import SignIn
internal import Synchronization

@_exported public import func RealmConfiguration.exitOnConfigurationErrors

/// The realms of a realms.conf, ready to protect the routes of an application.
///
/// Create it once, before the application, and add it to the services of the application. The service ends expired
/// sessions and the sessions of users who have changed. If it does not run, these sessions do not end.
///
/// ``reload()`` reads realms.conf again, and ``serve(_:)`` calls it at SIGHUP.
public final class Realms: Service {
    let load: @Sendable () throws(ConfigurationErrors) -> Configuration
    let files: ConfigurationFiles
    let logger: Logger
    let service: SignInService
    /// The settings at the start, which has read `listen`, `state` and `throttle`.
    let settings: ServerSettings
    let current: Mutex<RealmAccess>
    /// Nil before ``loadTLS()``.
    let tls = Mutex<ApplicationTLS?>(nil)
    /// The names of realms and roles without which no configuration is loaded, because routes of the program use them.
    let namesInCode = Mutex<(realms: Set<UTF8Text>, roles: Set<UTF8Text>)>(([], []))
    let reloads = ReloadQueue()

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
        try await self.init(try loader.load(path), files: .system, logger: logger) { () throws(ConfigurationErrors) in
            try loader.load(path)
        }
    }

    /// Creates the realms of a configuration, and restores the sessions and locks of the previous run.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: The access to the files of the certificate.
    ///   - logger: The log of realms, logins and sessions.
    ///   - load: Reads the configuration again, for ``reload()``. By default it returns the configuration, so
    ///     that a reload reads only the files of certificates.
    /// - Throws: `ConfigurationErrors` when the state folder cannot be used, for example because another server uses it.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger,
        load: (@Sendable () throws(ConfigurationErrors) -> Configuration)? = nil
    ) async throws(ConfigurationErrors) {
        // Swift 6.3 crashes if the closure follows `??`.
        if let load {
            self.load = load
        } else {
            self.load = { () throws(ConfigurationErrors) -> Configuration in configuration }
        }
        settings = configuration.server
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
            current = Mutex(try RealmAccess(configuration, service: service))
        } catch {
            throw configuration.server.stateFolder.errors("no random bytes can be generated: \(error)")
        }
        try await service.restore(configuration)
    }

    /// The realms, rules and settings in use: those of the start, or of the last ``reload()``.
    public var configuration: Configuration { access.configuration }

    /// The access control of the configuration in use.
    var access: RealmAccess { current.withLock { $0 } }

    /// The first address of `listen` at the start, for the configuration of an application; see ``serve(_:)``.
    ///
    /// The limits of the `server` block do not apply to Hummingbird's server.
    public var address: BindAddress {
        settings.listen.first?.value.bindAddress ?? .hostname("127.0.0.1", port: 0)
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
