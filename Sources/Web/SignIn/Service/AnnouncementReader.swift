// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Store
internal import Synchronization

/// The message of the administrator to all users, as the store contained it a second ago at most.
final class AnnouncementReader: Sendable {
    /// Nil if there is no store, and so no message.
    private let store: GatehouseStore?
    private let clock: any LoginClock
    private let wallClock: WallClock
    private let latest = Mutex<Announcement?>(nil)

    init(_ store: GatehouseStore?, clock: any LoginClock, wallClock: WallClock) {
        (self.store, self.clock, self.wallClock) = (store, clock, wallClock)
    }

    var text: String? {
        guard let announcement = latest.withLock({ $0 }), announcement.end > wallClock.seconds else { return nil }
        return announcement.text
    }

    /// Reads the message; if the store cannot be read, the earlier message is still shown.
    func refresh() async throws(StoreFault) {
        guard let store else { return }
        let announcement = try await store.announcement()
        latest.withLock { $0 = announcement }
    }

    /// Reads the message every second until the task is cancelled, and reports when the store begins to fail.
    func run(onError: @escaping @Sendable (StoreFault) -> Void) async {
        guard store != nil else { return }
        var isFailing = false
        while true {
            do { try await clock.sleep(until: clock.now &+ 1_000_000_000) } catch { return }
            do throws(StoreFault) {
                try await refresh()
                isFailing = false
            } catch {
                // A read that was cancelled with this task is not a fault.
                if !isFailing, error.code != .cancelled { onError(error) }
                isFailing = true
            }
        }
    }
}

extension PageTemplate {
    /// The message of the administrator to all users.
    static let announcement = compiled(
        """
        <p class="notice" role="note">{{announcement}}</p>

        """
    )
}
