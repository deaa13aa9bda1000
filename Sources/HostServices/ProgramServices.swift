// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
package import RealmConfiguration
package import RealmKit
internal import Synchronization

/// The services that a program provides to its realms: password checks, the time, a log, and those of its state folder.
///
/// A reloaded configuration gets the same hashing pool and the same store, as long as its settings for them are the
/// same.
package final class ProgramServices: RealmServiceSource {
    private struct Kept {
        var settings: PasswordSettings?
        var passwords: PasswordService?
        var folder: String?
        var addState: ProgramState.Provider?
    }

    private let state: ProgramState
    private let access: StateAccess
    private let log: RealmLog
    private let kept = Mutex(Kept())

    /// - Parameters:
    ///   - state: The services of the state folder.
    ///   - access: The use that this program makes of the state folder.
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
        try kept.withLock { kept throws(RealmServiceFault) -> RealmServices in
            if kept.folder != stateFolder {
                kept.addState = state.provider(stateFolder, access)
                kept.folder = stateFolder
            }
            if kept.settings != passwords || kept.passwords == nil {
                let pool = kept.settings?.slots == passwords.slots ? kept.passwords?.pool : nil
                kept.passwords = try Self.passwordService(passwords, pool: pool)
                kept.settings = passwords
            }
            var services = RealmServices()
            services[PasswordService.self] = kept.passwords
            services[RealmLog.self] = log
            services[WallClock.self] = WallClock.system
            kept.addState?(&services)
            return services
        }
    }

    /// A service for the settings, with the hashing pool of the previous one if it has the same settings.
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
