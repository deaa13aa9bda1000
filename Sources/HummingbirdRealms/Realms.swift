// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HostServices
public import Hummingbird
public import Logging
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration
public import RealmKit
public import ServiceLifecycle
public import Sessions
internal import SignIn
internal import StoreServices

/// The realms of a realms.conf, ready to protect the routes of an application.
///
/// It is created once, before the application. Add it to the services of the application, which runs it beside the
/// server: it expires sessions, and revokes the sessions of users whose entries have changed. Sessions neither expire
/// nor are revoked if the service does not run.
public final class Realms: Service {
    /// The contents of realms.conf.
    public let configuration: Configuration
    let access: RealmAccess
    let files: ConfigurationFiles
    let logger: Logger
    private let signIn: SignInService

    /// Reads and checks a configuration, and restores the sessions and locks of the previous run.
    ///
    /// - Parameters:
    ///   - path: The path of realms.conf.
    ///   - kinds: The types of realms that the file may name.
    ///   - properties: The values of `${name}`, in addition to the properties of the system.
    ///   - logger: The log of realms, logins and sessions.
    /// - Throws: ``ConfigurationErrors`` with all errors of the configuration.
    public convenience init(
        _ path: String = "realms.conf",
        kinds: [RealmKind],
        properties: [String: String] = [:],
        logger: Logger
    ) async throws(ConfigurationErrors) {
        let loader = ConfigurationLoader(
            kinds,
            files: .system,
            clock: SystemClock(),
            properties: SystemProperties.all.merging(properties) { _, given in given },
            services: ProgramServices(.store, access: .createIfMissing, log: RealmLog(logger))
        )
        try await self.init(try loader.load(path), files: .system, logger: logger)
    }

    /// Uses a configuration that was read already, and restores the sessions and locks of the previous run.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: The access to the files of the certificate.
    ///   - logger: The log of realms, logins and sessions.
    /// - Throws: ``ConfigurationErrors`` when the state folder cannot be used.
    public init(
        _ configuration: Configuration,
        files: ConfigurationFiles,
        logger: Logger
    ) async throws(ConfigurationErrors) {
        self.configuration = configuration
        self.files = files
        self.logger = logger
        for warning in configuration.warnings { logger.warning("\(warning.rendered)") }
        signIn = try SignInService(configuration, logger: logger)
        do throws(OpenSSLError) {
            // HSTS is sent only with a configured certificate: clients do not trust a development certificate.
            access = try RealmAccess(
                signIn,
                configuration: configuration,
                isTrusted: configuration.server.tls.files != nil
            )
        } catch {
            throw configuration.server.stateFolder.errors("no random bytes can be generated: \(error)")
        }
        try await signIn.restore(configuration)
    }

    /// The first address of `listen`.
    ///
    /// Hummingbird's server listens on one address; it applies none of the other limits of the `server` block.
    public var address: BindAddress {
        guard let first = configuration.server.listen.first?.value else { return .hostname("127.0.0.1", port: 0) }
        return .hostname(first.host, port: first.port)
    }

    /// Maintains sessions, failed logins and realms until the application ends.
    public func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await cancelWhenGracefulShutdown { await self.signIn.run() }
        } onCancelOrGracefulShutdown: {
            self.signIn.close()
        }
    }

    /// Watches a session, for responses that must end with it, such as a stream of events.
    ///
    /// - Parameter session: The session.
    /// - Returns: The watch.
    /// - Throws: ``SessionFault`` when the session has ended, or the limit of watches and streams is reached.
    public func watch(_ session: Session) throws(SessionFault) -> SessionWatch {
        SessionWatch(realms: self, events: try access.events(of: session))
    }

    /// Checks the realms for changed users at once; ``run()`` does so every second.
    package func refresh() async { await signIn.refresh() }

    /// Ends all event streams, each with an event for the shutdown of the server.
    package func close() { signIn.close() }

    /// Ends event streams at a graceful shutdown: the server waits for open responses before it stops its services.
    func closeAtShutdown() async {
        do {
            try await gracefulShutdown()
            close()
        } catch {
            // The stream ended before the shutdown.
        }
    }
}
