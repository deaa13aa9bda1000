// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

extension SessionTable {
    /// How often expired sessions are ended, warnings given and orders taken: every second.
    static let interval: UInt64 = 1_000_000_000
    /// How many intervals pass between two times that uses are stored, and between two signs of life on an event stream.
    static let intervalsBetweenTouches = 15

    /// Ends what has expired, warns, shows that event streams are alive, stores uses, and carries out what other programs
    /// order, until the task is cancelled; then stores what is left.
    ///
    /// It is for one task at a time.
    ///
    /// - Parameter onError: Told when the store has begun to fail; everything is tried again every second.
    public func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runMemory() }
            // A store that is stuck must not keep sessions from ending.
            if store != nil { group.addTask { await self.runStore(onError) } }
        }
    }

    /// Ends what has expired, and warns.
    func sweep() {
        let now = clocks.now
        tell(state.withLock { $0.sweep(now) })
    }

    private func runMemory() async {
        var count = 0
        while await rest() {
            sweep()
            count += 1
            if count % Self.intervalsBetweenTouches == 0 { beat() }
        }
    }

    private func runStore(_ onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        var isFailing = false
        var count = 0
        func note(_ error: SessionStoreError?) {
            if let error, !isFailing { onError(error) }
            isFailing = error != nil
        }
        while await rest() {
            count += 1
            note(await tend(storingTouches: isFailing || count % Self.intervalsBetweenTouches == 0))
        }
        // In a task that is not cancelled: a store may refuse to work for one that is.
        note(await Task { await self.tend(storingTouches: true) }.value)
    }

    private func tend(storingTouches: Bool) async -> SessionStoreError? {
        do throws(SessionStoreError) {
            try await settle()
            if storingTouches { try await storeTouches() }
            return nil
        } catch {
            return error
        }
    }

    /// Waits for an interval.
    ///
    /// - Returns: False when the task is cancelled.
    private func rest() async -> Bool {
        do throws(CancellationError) {
            try await clocks.clock.sleep(until: clocks.clock.now &+ Self.interval)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
