// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
package import Logging
package import LoginConf
internal import OpenSSLKit
internal import Passwords
package import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Throttle

/// The state of the sign-in: sessions, failed logins and the checks for changed users.
///
/// A server creates one service and keeps it over reloads of the configuration.
package final class SignInService: Sendable {
    let refresher: RealmRefresher
    let throttle: FailureThrottle
    let state: SignInState
    let logger: Logger

    /// The service for a configuration.
    ///
    /// The stored state is read by ``restore(_:)``.
    ///
    /// - Parameters:
    ///   - configuration: Realms, rules and settings.
    ///   - logger: The logger of the service.
    /// - Throws: ``ConfigurationErrors`` when the state folder cannot be used.
    package init(_ configuration: Configuration, logger: Logger) throws(ConfigurationErrors) {
        self.logger = logger
        refresher = RealmRefresher(clock: SystemClock(), logger: logger)
        do {
            throttle = try FailureThrottle.make(configuration, refresher: refresher, logger: logger)
            state = try SignInState.make(configuration, logger: logger)
        } catch {
            throw configuration.server.stateFolder.errors("\(error)")
        }
    }

    /// Reads the stored locks and sessions.
    ///
    /// The function must be called before the first login. Otherwise a locked account could log in after a restart.
    ///
    /// - Parameter configuration: Realms, rules and settings.
    /// - Throws: ``ConfigurationErrors`` when the locks or the sessions cannot be read.
    package func restore(_ configuration: Configuration) async throws(ConfigurationErrors) {
        do throws(ThrottleStoreError) {
            try await throttle.restore()
        } catch {
            throw configuration.server.stateFolder.errors("the locks cannot be read: \(error)")
        }
        await RealmRefresher.runFirstChecks(configuration.realms)
        do throws(SessionStoreError) {
            let validator = SessionValidator(authenticator: configuration.authenticator)
            try await state.sessions.restore { await validator.status(of: $0) }
        } catch {
            throw configuration.server.stateFolder.errors("the sessions cannot be read: \(error)")
        }
    }

    /// Runs the background work for sessions, locks and realms until the task is cancelled.
    package func run() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.refresher.run() }
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

    /// Ends all event streams.
    ///
    /// Open streams would prevent the server from stopping.
    package func close() { state.sessions.close() }

    /// Counts a reload of the configuration.
    ///
    /// A login of a request that was received before the reload cannot create a session.
    package func countReload() { state.countReload() }

    /// Checks the realms for changed users once.
    ///
    /// ``run()`` does this every second.
    package func refresh() async { await refresher.refresh() }

    /// Ends the sessions of realms and users that were removed or replaced.
    package func recheck(_ configuration: Configuration) async {
        state.sessions.use(configuration.server.sessions)
        let names = Set(configuration.realms.map(\.name))
        state.sessions.end(.realmGone) { !names.contains($0.user.realm) }
        let validator = SessionValidator(authenticator: configuration.authenticator)
        await state.sessions.recheck { await validator.status(of: $0) }
    }
}
