// SPDX-License-Identifier: Apache-2.0

internal import Passwords
public import RealmKit
internal import Synchronization

/// A source of services for realms, such as the store and the threads for password hashes.
///
/// A program has one source for its whole life. If a reload does not change the settings of a service, the new
/// configuration gets the same threads and the same store.
public protocol RealmServiceSource: Sendable {
    /// Returns the services for a configuration.
    ///
    /// - Parameters:
    ///   - passwords: The settings for hashing and checking passwords.
    ///   - stateFolder: The folder for the program's state.
    /// - Returns: The services; they allocate resources when they are first used.
    /// - Throws: ``RealmServiceFault`` if the services cannot be provided with these settings.
    func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices
}

/// A source without services: a realm that needs a service cannot be loaded.
public struct NoRealmServices: RealmServiceSource {
    /// Creates the source.
    public init() {}

    /// Returns no services.
    public func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        .none
    }
}

/// The error for services that cannot be provided.
public struct RealmServiceFault: Error, Sendable, Hashable {
    /// A part of realms.conf that can cause the error.
    public enum Cause: Sendable, Hashable {
        /// The `passwords` block.
        case passwords
        /// The state folder.
        case state
    }

    /// The part of realms.conf that causes the error.
    public let cause: Cause
    /// The message for the administrator.
    public let message: String

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - cause: The part of realms.conf that causes the error.
    ///   - message: The message for the administrator.
    public init(_ cause: Cause, _ message: String) {
        self.cause = cause
        self.message = message
    }
}

/// The services that a program provides to its realms: password checks, the time, a log, and those of its state folder.
///
/// If a reload does not change the settings of the hashing pool or the store, the new configuration uses the same one.
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

    /// Creates a service with a hashing pool, which it creates if there is none.
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

extension RealmLog {
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
