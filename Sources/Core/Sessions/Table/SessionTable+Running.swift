// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

extension SessionTable {
    /// The interval of the background loops: one second, in nanoseconds.
    ///
    /// In each interval expired sessions are ended, clients are warned, and commands are read.
    static let interval: UInt64 = 1_000_000_000
    /// The number of intervals between two writes of the times of uses, and between two heartbeats of a stream.
    static let intervalsBetweenTouches = 15

    /// Runs the background work of the table until the task is cancelled, and then stores the remaining changes.
    ///
    /// It ends expired sessions, warns clients, sends heartbeats, stores the times of uses, and carries out the
    /// commands of other programs. Only one task may call it.
    ///
    /// - Parameter onError: Called when the store begins to fail. Failed writes are repeated every second.
    public func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runMemory() }
            // Expiry has its own loop, so that a store that hangs cannot prevent sessions from ending.
            if store != nil { group.addTask { await self.runStore(onError: onError) } }
        }
    }

    /// Ends expired sessions, and warns clients.
    func sweep() {
        let now = clocks.now
        publish(state.withLock { $0.sweep(at: now) })
    }

    private func runMemory() async {
        var count = 0
        while await waitForInterval() {
            sweep()
            count += 1
            if count % Self.intervalsBetweenTouches == 0 { sendHeartbeats() }
        }
    }

    private func runStore(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        var isFailing = false
        var count = 0
        func report(_ error: SessionStoreError?) {
            if let error, !isFailing { onError(error) }
            isFailing = error != nil
        }
        while await waitForInterval() {
            count += 1
            let storingTouches = isFailing || count % Self.intervalsBetweenTouches == 0
            // The store is called in a separate task. If this task is cancelled, a store may reject its calls, and the
            // rejection would be reported as an error of the store.
            report(await Task { await self.updateStore(storingTouches: storingTouches) }.value)
        }
        report(await Task { await self.updateStore(storingTouches: true) }.value)
    }

    private func updateStore(storingTouches: Bool) async -> SessionStoreError? {
        do throws(SessionStoreError) {
            try await processCommandsAndRemovals()
            if storingTouches { try await storeTouches() }
            return nil
        } catch {
            return error
        }
    }

    /// Waits for one interval.
    ///
    /// - Returns: False when the task is cancelled.
    private func waitForInterval() async -> Bool {
        do throws(CancellationError) {
            try await clocks.clock.sleep(until: clocks.clock.now &+ Self.interval)
            return !Task.isCancelled
        } catch {
            return false
        }
    }
}
