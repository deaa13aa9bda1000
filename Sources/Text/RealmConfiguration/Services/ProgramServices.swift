// SPDX-License-Identifier: Apache-2.0

internal import Passwords
package import RealmKit
internal import Synchronization

/// The services that a program provides to its realms: password checks, the time, a log, and the services of its state
/// folder.
///
/// If a reload of the configuration does not change the settings of the hashing pool or the store, the new configuration
/// uses the same pool or store.
package final class ProgramServices: RealmServiceSource {
    private struct Current {
        var settings: PasswordSettings?
        var passwords: PasswordService?
        var folder: String?
        var addState: ProgramState.Provider?
    }

    private let state: ProgramState
    private let access: StateAccess
    private let log: RealmLog
    private let current = Mutex(Current())

    /// - Parameters:
    ///   - state: The services of the state folder.
    ///   - access: The program's access to the state folder.
    ///   - log: The log for messages of realms to the administrator.
    package init(_ state: ProgramState, access: StateAccess, log: RealmLog) {
        self.state = state
        self.access = access
        self.log = log
    }

    package func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        try current.withLock { current throws(RealmServiceFault) -> RealmServices in
            if current.folder != stateFolder {
                current.addState = state.provider(stateFolder, access)
                current.folder = stateFolder
            }
            if current.settings != passwords || current.passwords == nil {
                let pool = current.settings?.slots == passwords.slots ? current.passwords?.pool : nil
                current.passwords = try Self.passwordService(passwords, pool: pool)
                current.settings = passwords
            }
            var services = RealmServices()
            services[PasswordService.self] = current.passwords
            services[NewPasswordRules.self] = passwords.rules
            services[RealmLog.self] = log
            services[WallClock.self] = WallClock.system
            current.addState?(&services)
            return services
        }
    }

    /// Creates a service for the settings.
    ///
    /// It uses the given hashing pool; if `pool` is nil, it creates a pool.
    private static func passwordService(
        _ settings: PasswordSettings,
        pool: HashingPool?
    ) throws(RealmServiceFault) -> PasswordService {
        let clock = SystemClock()
        var wanted = settings.slots
        if wanted.workers == 0 { wanted.workers = Processors.count }
        do throws(HashFault) {
            return try PasswordService(policy: settings.policy, pool: pool ?? HashingPool(wanted) { clock.now })
        } catch {
            throw RealmServiceFault(.passwords, error.description)
        }
    }
}
