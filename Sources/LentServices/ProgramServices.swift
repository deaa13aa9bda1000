// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Passwords
package import RealmConfiguration
package import RealmKit
package import Store
internal import Synchronization

/// What a program lends its realms: the slots in which hashes are computed, the store, the time, a log.
///
/// A configuration that is read again gets the same slots and the same store, as far as it says the same about them.
package final class ProgramServices: RealmServiceSource {
    private struct Kept {
        var settings: PasswordSettings?
        var service: PasswordService?
        var source: StoreSource?
    }

    private let mode: StoreSource.Mode
    private let log: RealmLog
    private let kept = Mutex(Kept())

    /// - Parameters:
    ///   - mode: What becomes of a store that is not there.
    ///   - log: Where realms say what the administrator should know.
    package init(_ mode: StoreSource.Mode, log: RealmLog) {
        self.mode = mode
        self.log = log
    }

    package func services(
        for passwords: PasswordSettings,
        stateFolder: String
    ) throws(RealmServiceFault) -> RealmServices {
        try kept.withLock { kept throws(RealmServiceFault) -> RealmServices in
            if kept.source?.folder != stateFolder { kept.source = StoreSource(folder: stateFolder, mode: mode) }
            if kept.settings != passwords || kept.service == nil {
                kept.service = try Self.service(passwords, slots: kept.settings?.slots, kept.service?.slots)
                kept.settings = passwords
            }
            var services = RealmServices()
            services[PasswordService.self] = kept.service
            services[StoreSource.self] = kept.source
            services[RealmLog.self] = log
            services[WallClock.self] = WallClock.system
            return services
        }
    }

    private static func service(
        _ settings: PasswordSettings,
        slots before: HashingSettings?,
        _ slots: HashingSlots?
    ) throws(RealmServiceFault) -> PasswordService {
        var wanted = settings.slots
        if wanted.workers == 0 { wanted.workers = Processors.count }
        let clock = SystemClock()
        let made: HashingSlots
        if let slots, before == settings.slots { made = slots } else { made = HashingSlots(wanted) { clock.now } }
        do throws(HashFault) {
            return try PasswordService(policy: settings.policy, slots: made)
        } catch {
            throw RealmServiceFault(.passwords, error.description)
        }
    }
}

extension RealmLog {
    /// A log for a command, which says each thing once however often the command looks.
    ///
    /// - Parameter write: Takes a message.
    /// - Returns: The log.
    package static func once(_ write: @escaping @Sendable (String) -> Void) -> RealmLog {
        let seen = Seen()
        return RealmLog { _, message in
            if seen.isNew(message) { write(message) }
        }
    }

    private final class Seen: Sendable {
        private let messages = Mutex<Set<String>>([])

        func isNew(_ message: String) -> Bool { messages.withLock { $0.insert(message).inserted } }
    }
}
