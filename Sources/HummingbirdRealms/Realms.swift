// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Gatehouse
public import Hummingbird
internal import LentServices
public import Logging
public import LoginConf
internal import OpenSSLKit
public import RealmConfiguration
public import RealmKit
public import ServiceLifecycle
public import Sessions
internal import Store

/// The realms of a realms.conf, ready to protect the routes of an application.
///
/// Made once, before the application. It is a service of the application, which runs it beside its server: it ends
/// sessions whose time is over, and those of users who have changed; without it neither happens.
public final class Realms: Service {
    /// What realms.conf says.
    public let configuration: Configuration
    let desk: FrontDesk
    let files: ConfigurationFiles
    let logger: Logger
    private let signIn: SignInService

    /// Reads and checks a configuration, and restores the sessions and locks of before.
    ///
    /// - Parameters:
    ///   - path: The realms.conf.
    ///   - kinds: The types of realms it may name.
    ///   - properties: What `${name}` stands for besides the properties of the system.
    ///   - logger: Where is said what happens.
    /// - Throws: ``ConfigurationErrors`` with everything that is wrong.
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
            services: ProgramServices(.make, log: RealmLog(logger))
        )
        try await self.init(try loader.load(path), files: .system, logger: logger)
    }

    /// Takes a configuration that was read already, and restores the sessions and locks of before.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - files: Where the certificate's files come from.
    ///   - logger: Where is said what happens.
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
            // Browsers are told to come back by TLS alone only where a certificate is named.
            desk = try FrontDesk(signIn, configuration, isTrusted: configuration.server.tls.files != nil)
        } catch {
            throw configuration.server.stateFolder.errors("there is no randomness: \(error)")
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

    /// Looks after sessions, failed logins and realms until the application ends.
    public func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            await cancelWhenGracefulShutdown { await self.signIn.run() }
        } onCancelOrGracefulShutdown: {
            self.signIn.close()
        }
    }

    /// Watches a session, for what lasts as long as somebody is signed in, such as a stream of events.
    ///
    /// - Parameter session: The session.
    /// - Returns: The watch.
    /// - Throws: ``SessionFault`` when the session is over already, or has as many watches and streams as it may have.
    public func watch(_ session: Session) throws(SessionFault) -> SessionWatch {
        SessionWatch(realms: self, events: try desk.events(of: session))
    }

    /// Asks realms at once whether users have changed, as is done every second while it runs.
    package func look() async { await signIn.look() }

    /// Ends event streams: those who have one are told that the server stops.
    package func close() { signIn.close() }

    /// Ends event streams when the server is about to stop: it waits for what has begun before it stops its services.
    func closeAtShutdown() async {
        do {
            try await gracefulShutdown()
            close()
        } catch {
            // The stream has ended before.
        }
    }
}
