// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPServer
package import Logging
package import LoginConf
internal import OpenSSLKit
internal import Passwords
package import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Throttle

/// What keeps people signed in, whichever server their requests come to: sessions, failed logins, the watch over realms.
///
/// It outlives the configuration, which may be read again.
package final class SignInService: Sendable {
    let watch: RealmWatch
    let throttle: FailureThrottle
    let state: SignInState
    private let logger: Logger

    /// What a configuration needs to know people by; nothing is read before ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - logger: Where is said what happens.
    /// - Throws: ``ConfigurationErrors`` when the state folder cannot be used.
    package init(_ configuration: Configuration, logger: Logger) throws(ConfigurationErrors) {
        self.logger = logger
        watch = RealmWatch(clock: SystemClock(), logger: logger)
        do {
            throttle = try FailureThrottle.make(configuration, watch: watch, logger: logger)
            state = try SignInState.make(configuration, logger: logger)
        } catch {
            throw configuration.server.stateFolder.errors("\(error)")
        }
    }

    /// Reads what was stored before; to be done before the first login, so that a restart opens no lock.
    ///
    /// - Parameter configuration: Realms, rules and settings.
    /// - Throws: ``ConfigurationErrors`` when it cannot be read.
    package func restore(_ configuration: Configuration) async throws(ConfigurationErrors) {
        do throws(ThrottleStoreError) {
            try await throttle.restore()
        } catch {
            throw configuration.server.stateFolder.errors("what is locked cannot be read: \(error)")
        }
        await RealmWatch.prime(configuration.realms)
        do throws(SessionStoreError) {
            let authority = SessionAuthority(authenticator: configuration.authenticator)
            try await state.sessions.restore { await authority.standing(of: $0) }
        } catch {
            throw configuration.server.stateFolder.errors("the sessions cannot be read: \(error)")
        }
    }

    /// Looks after sessions, locks and realms until the task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.watch.run() }
            group.addTask {
                await self.throttle.run(every: FailureThrottle.storingInterval) { error in
                    self.logger.error("failed logins cannot be stored", metadata: ["error": "\(error)"])
                }
            }
            group.addTask {
                await self.state.run { error in
                    self.logger.error("sessions cannot be stored", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Ends event streams, which would never end by themselves.
    package func close() { state.sessions.close() }

    /// Asks realms once whether users have changed, as is done every second while it runs.
    package func look() async { await watch.look() }

    /// What requests meet when a configuration is in force.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings; its realms are looked after from now on.
    ///   - isTrusted: Whether clients are meant to trust the certificate.
    /// - Returns: Gate and pages.
    /// - Throws: When there is no randomness for a key.
    func reception(_ configuration: Configuration, isTrusted: Bool) throws(OpenSSLError) -> Reception {
        let clock = SystemClock()
        let settings = configuration.server
        let rules = ProtectionRules(configuration.rules)
        let authenticator = configuration.authenticator.throttled(by: throttle)
        let frame = Page.Frame(
            security: SecurityHeaders(isTrusted: isTrusted, returnTo: settings.signIn.returnTo.map(\.description)),
            places: Places(prefix: settings.signIn.prefix)
        )
        let gate = Gate(
            rules: rules,
            authenticator: authenticator,
            sessions: state.sessions,
            verified: try VerifiedCredentials(lifetime: settings.credentialCache.nanoseconds),
            clock: clock
        )
        watch.look(after: configuration.realms, gate, configuration.services[PasswordService.self]?.slots)
        let portal = Portal(configuration, rules: rules, authenticator: authenticator, state: state, frame: frame)
        return Reception(gate: gate, portal: portal, shelf: PageShelf(configuration.rules, frame))
    }

    /// Ends the sessions of realms and users that are gone or others now.
    func recheck(_ configuration: Configuration) async {
        state.sessions.use(configuration.server.sessions)
        let names = Set(configuration.realms.map(\.name))
        state.sessions.end(.realmGone) { !names.contains($0.user.realm) }
        let authority = SessionAuthority(authenticator: configuration.authenticator)
        await state.sessions.recheck { await authority.standing(of: $0) }
    }
}

/// What requests meet: who decides, the pages people sign in on, what is shown besides.
struct Reception: Sendable {
    let gate: Gate
    let portal: Portal
    let shelf: PageShelf
}
