// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Sessions
internal import Synchronization

/// The message of the administrator to all users, as the store contained it a second ago at most.
final class AnnouncementReader: Sendable {
    /// Reads the message; nil if there is no store, and so no message.
    private let read: (@Sendable () async throws -> Announcement?)?
    private let clock: any LoginClock
    private let wallClock: WallClock
    private let latest = Mutex<Announcement?>(nil)

    init(
        clock: any LoginClock,
        wallClock: WallClock,
        read: (@Sendable () async throws -> Announcement?)?
    ) {
        (self.read, self.clock, self.wallClock) = (read, clock, wallClock)
    }

    var text: String? {
        guard let announcement = latest.withLock({ $0 }), announcement.end > wallClock.seconds else { return nil }
        return announcement.text
    }

    /// Reads the message; if the store cannot be read, the earlier message is still shown.
    func refresh() async throws {
        guard let read else { return }
        let announcement = try await read()
        latest.withLock { $0 = announcement }
    }

    /// Reads the message every second until the task is cancelled, and reports when the store begins to fail.
    func run(onError: @escaping @Sendable (any Error) -> Void) async {
        guard read != nil else { return }
        var isFailing = false
        while true {
            do { try await clock.sleep(until: clock.now &+ 1_000_000_000) } catch { return }
            do {
                try await refresh()
                isFailing = false
            } catch {
                // A read that was cancelled with this task is not a fault.
                if !isFailing, !Task.isCancelled { onError(error) }
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
