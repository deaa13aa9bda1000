// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

extension FailureThrottle {
    /// Restores failures and locks from the store; to be called before the first login.
    ///
    /// - Throws: ``ThrottleStoreError`` when it cannot be read; nothing is restored then.
    public func restore() async throws(ThrottleStoreError) {
        guard let store else { return }
        let snapshot = try await store.load()
        let wall = wall()
        state.withLock { state in
            state.storing.lastReset = snapshot.lastReset
            // They are restored in the order in which they expire: a table relies on it to drop expired records
            // cheaply.
            for record in snapshot.records.sorted(by: { ($0.lockEnd ?? 0, $0.newest) < ($1.lockEnd ?? 0, $1.newest) }) {
                switch record.key {
                case .account: state.accounts.restore(record, at: moment, wall: wall)
                case .source: state.sources.restore(record, at: moment, wall: wall)
                }
            }
        }
    }

    /// Stores changes, after applying the resets that other programs have stored.
    ///
    /// Only one call runs at a time; another one returns at once.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store fails; changes that are not stored are tried again at the next call.
    public func flush() async throws(ThrottleStoreError) {
        guard let store else { return }
        let last: Int? = state.withLock { state in
            guard !state.storing.isFlushing else { return nil }
            state.storing.isFlushing = true
            return state.storing.lastReset
        }
        guard let last else { return }
        defer { state.withLock { $0.storing.isFlushing = false } }
        apply(try await store.lockoutResets(after: last))
        let wall = wall()
        var rest = state.withLock { $0.takeChanges(at: moment, wall: wall) }[...]
        while !rest.isEmpty {
            do throws(ThrottleStoreError) {
                try await store.save(Array(rest.prefix(ThrottleChange.batch)))
            } catch {
                state.withLock { $0.putBack(rest) }
                throw error
            }
            rest = rest.dropFirst(ThrottleChange.batch)
        }
    }

    /// Stores changes at intervals, and at once when a lock begins, until the task is cancelled; then once more.
    ///
    /// Only one task may run it. It returns at once if there is no store.
    ///
    /// - Parameters:
    ///   - interval: The time between two writes; also the longest delay before a reset of another program is applied
    ///     here.
    ///   - report: Called with each error; the write is tried again.
    public func run(every interval: Duration, reporting report: (ThrottleStoreError) -> Void) async {
        guard store != nil else { return }
        while !Task.isCancelled {
            await pause(interval)
            guard !Task.isCancelled else { break }
            do throws(ThrottleStoreError) { try await flush() } catch {
                // A store may refuse to work for a cancelled task, and has not failed then.
                if !Task.isCancelled { report(error) }
            }
        }
        // It runs in a separate task: a store may refuse to work for a cancelled task, and the last failures would be
        // lost.
        let last = await Task { () -> ThrottleStoreError? in
            do throws(ThrottleStoreError) { try await flush() } catch { return error }
            return nil
        }.value
        if let last { report(last) }
    }

    /// Ends the pause of ``run(every:reporting:)``.
    func requestFlush() {
        let idle = state.withLock { state in
            state.storing.isUrgent = true
            return state.storing.idle.take()
        }
        idle?.resume()
    }

    private func pause(_ interval: Duration) async {
        let ticket = watch.add(at: clock.now &+ UInt64(interval.boundedNanoseconds)) { [weak self] _ in
            self?.requestFlush()
            return nil
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isUrgent = state.withLock { state in
                    if state.storing.isUrgent || Task.isCancelled { return true }
                    state.storing.idle = continuation
                    return false
                }
                if isUrgent { continuation.resume() }
            }
        } onCancel: {
            requestFlush()
        }
        watch.remove(ticket)
        state.withLock { $0.storing.isUrgent = false }
    }

    private func apply(_ resets: [LockoutReset]) {
        let woken = state.withLock { state in
            resets.flatMap { reset in
                state.storing.lastReset = max(state.storing.lastReset, reset.number)
                return state.clear(reset.scope, at: moment)
            }
        }
        woken.forEach { $0.wake() }
    }
}

extension ThrottleState {
    /// Marks changes that could not be stored as changed again.
    mutating func putBack(_ changes: ArraySlice<ThrottleChange>) {
        for change in changes {
            switch change {
            case .removeAll: storing.mustRewrite = true
            case .save(let record): note(record.key)
            case .remove(let key): note(key)
            }
        }
    }

    private mutating func note(_ key: ThrottleKey) {
        switch key {
        case .account: accounts.note(key)
        case .source: sources.note(key)
        }
    }
}
