// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

extension SessionTable {
    /// The interval at which expired sessions are ended, clients warned and commands read: one second.
    static let interval: UInt64 = 1_000_000_000
    /// The number of intervals between two writes of uses, and between two heartbeats on an event stream.
    static let intervalsBetweenTouches = 15

    /// Ends expired sessions, warns clients, sends heartbeats, stores uses, and carries out the commands of other
    /// programs until the task is cancelled; then stores the remaining changes.
    ///
    /// Only one task may run it.
    ///
    /// - Parameter onError: Called when the store begins to fail; every write is repeated every second.
    public func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runMemory() }
            // A store that hangs must not keep sessions from ending.
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
        while await rest() {
            sweep()
            count += 1
            if count % Self.intervalsBetweenTouches == 0 { sendHeartbeats() }
        }
    }

    private func runStore(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        var isFailing = false
        var count = 0
        func note(_ error: SessionStoreError?) {
            if let error, !isFailing { onError(error) }
            isFailing = error != nil
        }
        while await rest() {
            count += 1
            let storingTouches = isFailing || count % Self.intervalsBetweenTouches == 0
            // It runs in a separate task: a store may refuse to work for a cancelled task, which is not an error of the
            // store.
            note(await Task { await self.updateStore(storingTouches: storingTouches) }.value)
        }
        note(await Task { await self.updateStore(storingTouches: true) }.value)
    }

    private func updateStore(storingTouches: Bool) async -> SessionStoreError? {
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
