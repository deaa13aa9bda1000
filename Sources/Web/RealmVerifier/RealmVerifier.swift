// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import CoreMetrics
internal import Files
public import Logging
public import LoginConf
@_exported public import RealmConfiguration
@_exported public import RealmKit
public import ServiceLifecycle
internal import Sessions
internal import Synchronization
internal import Throttle

/// Checks names and passwords in realms, for programs of any kind: a gRPC server, a mail server, a command.
///
/// It has what a server of Gatehouse has behind its pages: the realms of a realms.conf or of the program's code, the slots for
/// password hashes, the lock-out after failed logins, the cache of credentials, and a line of the log for each login. Create it once, and
/// run it as a service before the services that use it: it then stores the locks, applies changes of users within a second, and ends
/// logins whose users do not answer. **If it does not run, it does none of these.**
///
/// If the program has set a tracer of swift-distributed-tracing before it creates the verifier, each login is a span
/// `login`; if it has set a factory of swift-metrics, logins are counted.
///
/// ```swift
/// let verifier = try await RealmVerifier("realms.conf", kinds: builtInRealms, logger: logger)
/// switch await verifier.verify("ann", password: Secret(utf8: "secret"), peer: "192.0.2.1") {
/// case .accepted(let user): print(user.groups)
/// case .refused, .questions: print("refused")
/// case .unavailable: print("try again later")
/// }
/// ```
public final class RealmVerifier: Service {
    private let load: @Sendable () throws(ConfigurationErrors) -> Configuration
    private let throttle: FailureThrottle
    let refresher: RealmRefresher
    /// Never holds a session; its revocations tell whether a user has changed while a login waited.
    let sessions: SessionTable
    let openLogins: OpenLogin.Table
    private let clock = SystemClock()
    let logger: Logger
    /// The tracer at the creation; nil if there was none.
    let tracer = LoginTracer()
    /// The metrics at the creation; nil if the program had none.
    private let metrics: LoginMetrics?
    let numbers = QuestionNumbers()
    let current: Mutex<CurrentRealms>
    private let reloads = ReloadQueue()
    private let isRunning = Atomic(false)
    /// The lock of the state folder.
    private let lock: StateFolder.Lock?

    /// Reads a realms.conf, and the locks of the previous run.
    ///
    /// - Parameters:
    ///   - path: The path of realms.conf, of which rules, pages and addresses have no effect here.
    ///   - kinds: The kinds of realms that the file may use. With `StoreRealm` among them, locks are kept in the state folder.
    ///   - properties: The values of `${name}`, in addition to the system properties.
    ///   - logger: The log of realms and logins.
    /// - Throws: `ConfigurationErrors` with all errors of the configuration.
    public convenience init(
        _ path: String = "realms.conf",
        kinds: [RealmKind],
        properties: [String: String] = [:],
        logger: Logger
    ) async throws(ConfigurationErrors) {
        let loader = Self.loader(kinds, properties: properties, logger: logger)
        try await self.init(logger: logger) { () throws(ConfigurationErrors) in try loader.load(path) }
    }

    /// Creates the realms that a program defines in code.
    ///
    /// - Parameters:
    ///   - kinds: The kinds of realms whose classes the definitions name.
    ///   - stateFolder: The folder for users and locks; without one, `StoreRealm` cannot be used, and locks are kept in memory only.
    ///   - settings: Statements of the `server` block, such as `throttle { failures 5; }`.
    ///   - logger: The log of realms and logins.
    ///   - realms: The realms. A check that names none uses the first.
    /// - Throws: `ConfigurationErrors` with all errors of the definitions.
    public convenience init(
        kinds: [RealmKind] = [],
        stateFolder: String? = nil,
        settings: String = "",
        logger: Logger,
        @RealmsBuilder realms: () -> [RealmDefinition]
    ) async throws(ConfigurationErrors) {
        let definitions = realms()
        let loader = Self.loader(kinds + definitions.kinds, logger: logger, hasState: stateFolder != nil)
        try await self.init(logger: logger) { () throws(ConfigurationErrors) in
            try loader.load(definitions, stateFolder: stateFolder, settings: settings)
        }
    }

    private static func loader(
        _ kinds: [RealmKind],
        properties: [String: String] = [:],
        logger: Logger,
        hasState: Bool = true
    ) -> ConfigurationLoader {
        ConfigurationLoader(
            kinds,
            files: .system,
            clock: SystemClock(),
            properties: SystemProperties.all.merging(properties) { _, given in given },
            services: ProgramServices(hasState ? kinds.state : .none, access: .createIfMissing, log: RealmLog(logger))
        )
    }

    private init(
        logger: Logger,
        load: @escaping @Sendable () throws(ConfigurationErrors) -> Configuration
    ) async throws(ConfigurationErrors) {
        let configuration = try load()
        let refresher = RealmRefresher(clock: clock)
        do {
            let storage = configuration.services[ThrottleStorage.self]
            lock = try storage.map { _ in
                try StateFolder.Lock(ofServerIn: StateFolder(configuration.server.stateFolder.value))
            }
            throttle = FailureThrottle(
                configuration.server.throttle,
                clock: clock,
                wall: { WallClock.system.seconds },
                jitter: { Double.random(in: 0...1) },
                store: try storage?.open(),
                // The refresher holds the realms, which hold the throttle.
                onLock: { [weak refresher] lockout, _ in
                    refresher?.evict(lockout.key)
                    VerifierLog(logger).logLock(lockout)
                }
            )
            try await throttle.restore()
        } catch {
            throw configuration.server.stateFolder.errors("the state folder cannot be used: \(error)")
        }
        await RealmRefresher.runFirstChecks(configuration.realms)
        (self.load, self.logger, self.refresher) = (load, logger, refresher)
        let factory = MetricsSystem.factory
        metrics = factory is NOOPMetricsHandler ? nil : LoginMetrics(factory)
        sessions = SessionTable(SessionSettings(), clock: clock, wall: .system) { _, _ in }
        let signIn = configuration.server.signIn
        openLogins = OpenLogin.Table(
            limit: signIn.waiting,
            // As many as the failures that lock a network, because each of them counts as one.
            perOwner: 100,
            lifetime: signIn.time.nanoseconds,
            clock: clock
        ) { $0.cancel() }
        let first = try CurrentRealms(
            configuration,
            throttle: throttle,
            sessions: sessions,
            metrics: metrics,
            clock: clock
        )
        current = Mutex(first)
        refresher.use(configuration.realms, accessController: first.accessController)
        for warning in configuration.warnings { logger.warning("\(warning.logLine)") }
    }

    // MARK: The service

    /// Reads the configuration again; cached credentials are checked anew.
    ///
    /// A change of `throttle` needs a restart.
    ///
    /// - Throws: `ConfigurationErrors` if it has errors, or another state folder. Then the present one stays in use.
    public func reload() async throws(ConfigurationErrors) {
        try await reloads.run { () throws(ConfigurationErrors) in try await self.reloadNow() }
    }

    private func reloadNow() async throws(ConfigurationErrors) {
        let configuration = try load()
        let before = current.withLock { $0.configuration.server }
        guard configuration.server.stateFolder.value == before.stateFolder.value else {
            throw configuration.server.stateFolder.errors("the state folder cannot be changed while the program runs")
        }
        await RealmRefresher.runFirstChecks(configuration.realms)
        let next = try CurrentRealms(
            configuration,
            throttle: throttle,
            sessions: sessions,
            metrics: metrics,
            clock: clock
        )
        current.withLock { current in
            current = next
            refresher.use(configuration.realms, accessController: next.accessController)
        }
        for warning in configuration.warnings { logger.warning("\(warning.logLine)") }
        if configuration.server.throttle != before.throttle {
            logger.warning("throttle has changed; the change needs a restart")
        }
        logger.notice("the realms were reloaded")
    }

    /// Stores the locks, applies the changes of users and ends logins without an answer, until the task is cancelled or the
    /// program shuts down.
    public func run() async {
        guard !isRunning.exchange(true, ordering: .relaxed) else {
            return logger.error("a RealmVerifier runs as one service only")
        }
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.refresher.run() }
                group.addTask {
                    await self.throttle.run(every: .milliseconds(250)) { error in
                        self.logger.error("failed logins cannot be stored", metadata: ["error": "\(error)"])
                    }
                }
                group.addTask {
                    while (try? await self.clock.sleep(until: self.clock.now &+ 1_000_000_000)) != nil {
                        self.openLogins.sweep(self.clock.now)
                    }
                }
            }
        }
        openLogins.removeAll()
    }
}
