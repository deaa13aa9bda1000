// SPDX-License-Identifier: Apache-2.0

internal import Bytes
package import Logging
internal import Passwords
package import RealmKit
internal import Synchronization

/// The services that a program provides to its realms: password checks, the time, a log, and those of its state folder.
///
/// A program has one value for its whole life. If a reload does not change the settings of the hashing pool or the store,
/// the new configuration uses the same one.
package final class ProgramServices: Sendable {
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

    package init(_ state: ProgramState, access: StateAccess, log: RealmLog) {
        self.state = state
        self.access = access
        self.log = log
    }

    /// Returns the services for a configuration; they allocate resources when they are first used.
    ///
    /// - Throws: ``HashFault`` if no password service can be created with the settings.
    func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(HashFault) -> RealmServices {
        try current.withLock { current throws(HashFault) -> RealmServices in
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

    /// Creates a service with a hashing pool, which it creates if there is none.
    private static func passwordService(
        _ settings: PasswordSettings,
        pool: HashingPool?
    ) throws(HashFault) -> PasswordService {
        let clock = SystemClock()
        var wanted = settings.slots
        if wanted.workers == 0 { wanted.workers = Processors.count }
        return try PasswordService(policy: settings.policy, pool: pool ?? HashingPool(wanted) { clock.now })
    }
}

extension RealmLog {
    /// Creates a log that writes to the log of a program, each message on one line: it may contain names from outside, which must not look
    /// like lines of the log.
    package init(_ logger: Logger) {
        self.init { level, message in
            let level: Logger.Level =
                switch level {
                case .notice: .notice
                case .warning: .warning
                case .error: .error
                }
            logger.log(level: level, "\(LineText.line(message))")
        }
    }

    /// Creates a log that writes each message only once, for commands.
    package static func once(_ write: @escaping @Sendable (String) -> Void) -> RealmLog {
        let messages = WrittenMessages()
        return RealmLog { _, message in
            if messages.isNew(message) { write(message) }
        }
    }

    package static var discarding: RealmLog { RealmLog { _, _ in } }

    private final class WrittenMessages: Sendable {
        private let messages = Mutex<Set<String>>([])

        func isNew(_ message: String) -> Bool { messages.withLock { $0.insert(message).inserted } }
    }
}
