// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Store
internal import Synchronization

/// The message of the administrator to all users, as the store contained it a second ago at most.
final class AnnouncementReader: Sendable {
    private let store: (any AnnouncementStore)?
    private let clock: any LoginClock
    private let wallClock: WallClock
    private let latest = Mutex<Announcement?>(nil)

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - store: The store; nil if there is none, and so no message.
    ///   - clock: The clock that measures the interval between two reads.
    ///   - wallClock: The clock that decides whether the message has ended.
    init(_ store: (any AnnouncementStore)?, clock: any LoginClock, wallClock: WallClock) {
        self.store = store
        self.clock = clock
        self.wallClock = wallClock
    }

    /// The text of the message; nil if there is none, or if it has ended.
    var text: String? {
        guard let announcement = latest.withLock({ $0 }), announcement.end > wallClock.seconds else { return nil }
        return announcement.text
    }

    /// Reads the message.
    ///
    /// - Throws: ``StoreFault`` when the store cannot be read. The earlier message is then still shown.
    func refresh() async throws(StoreFault) {
        guard let store else { return }
        let announcement = try await store.announcement()
        latest.withLock { $0 = announcement }
    }

    /// Reads the message every second until the task is cancelled.
    ///
    /// - Parameter onError: Called when the store begins to fail.
    func run(onError: @escaping @Sendable (StoreFault) -> Void) async {
        guard store != nil else { return }
        var isFailing = false
        while true {
            do throws(CancellationError) {
                try await clock.sleep(until: clock.now &+ 1_000_000_000)
            } catch {
                return
            }
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
