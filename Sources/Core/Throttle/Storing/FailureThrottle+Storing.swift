// SPDX-License-Identifier: Apache-2.0

internal import RealmKit
internal import Synchronization

extension FailureThrottle {
    /// Restores failures and locks from the store, before the first login.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store cannot be read. Then nothing is restored.
    public func restore() async throws(ThrottleStoreError) {
        guard let store else { return }
        let snapshot = try await store.load()
        let wall = wall()
        state.withLock { state in
            state.storing.lastReset = snapshot.lastReset
            // In the order in which they expire: the table looks for expired records at the beginning of its lists.
            for record in snapshot.records.sorted(by: { ($0.lockEnd ?? 0, $0.newest) < ($1.lockEnd ?? 0, $1.newest) }) {
                state[record.key].restore(record, at: moment, wall: wall)
            }
        }
    }

    /// Applies the resets that other programs have stored, then stores the changes, unless another call is doing so.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store fails. The next call tries to store the same changes again.
    public func flush() async throws(ThrottleStoreError) {
        guard let store else { return }
        let last: Int? = state.withLock { state in
            guard !state.storing.isFlushing else { return nil }
            state.storing.isFlushing = true
            return state.storing.lastReset
        }
        guard let last else { return }
        defer { state.withLock { $0.storing.isFlushing = false } }
        // The second call confirms the resets of the first.
        var applied = last
        while true {
            let resets = try await store.lockoutResets(after: applied)
            guard let newest = resets.last else { break }
            apply(resets)
            applied = newest.number
        }
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

    /// Stores changes at intervals, and at once when a lock begins, until the task is cancelled; then the last changes.
    ///
    /// Only one task may call this method, and only once. Without a store, it returns at once.
    ///
    /// - Parameters:
    ///   - interval: The time between two writes. A reset by another program is applied within this time.
    ///   - report: Called with each error. The write is tried again.
    public func run(every interval: Duration, reporting report: (ThrottleStoreError) -> Void) async {
        guard store != nil else { return }
        var requests = flushRequests.stream.makeAsyncIterator()
        while true {
            let ticket = watch.add(at: clock.now &+ UInt64(interval.boundedNanoseconds)) { [weak self] _ in
                self?.requestFlush()
                return nil
            }
            // No request comes after a cancellation.
            let isRequested = await requests.next() != nil
            watch.remove(ticket)
            guard isRequested, !Task.isCancelled else { break }
            do throws(ThrottleStoreError) { try await flush() } catch {
                // A store may reject calls of a cancelled task. This is not a failure of the store.
                if !Task.isCancelled { report(error) }
            }
        }
        // The last write runs in a separate task. A store may reject calls of this task, because it is cancelled.
        let last = await Task { () -> ThrottleStoreError? in
            do throws(ThrottleStoreError) { try await flush() } catch { return error }
            return nil
        }.value
        if let last { report(last) }
    }

    /// Ends the pause of ``run(every:reporting:)``.
    func requestFlush() { flushRequests.continuation.yield() }

    private func apply(_ resets: [LockoutReset]) {
        let endedWaits = state.withLock { state in
            resets.flatMap { reset in
                state.storing.lastReset = max(state.storing.lastReset, reset.number)
                return state.clear(reset.scope, at: moment)
            }
        }
        endedWaits.forEach { $0.resume() }
    }
}

/// The state of a throttle's writes to its store.
struct StoringState: Sendable {
    /// The number of the last reset that this throttle has applied.
    var lastReset = 0
    /// True if all records must be stored again.
    var mustRewrite = false
    /// True if changes are being saved.
    var isFlushing = false
    /// The wall clock minus the monotonic clock, in seconds, at the last write.
    var clockOffset: Int?
}

extension ThrottleState {
    /// Clears failures and locks, and returns the logins whose wait has ended.
    mutating func clear(_ scope: LockoutReset.Scope, at now: Int) -> [EndedWait] {
        switch scope {
        case .one(let key):
            self[key].clear(key)
            presentedPasswords.clear(key)
            return admitWaiting(for: key, at: now)
        case .all:
            accounts.clearAll()
            sources.clearAll()
            presentedPasswords.clearAll()
            storing.mustRewrite = true
            return admitAllWaiting(at: now)
        }
    }

    /// Removes the changes that must be stored, and returns them in order; `wall` is in seconds since 1970.
    mutating func takeChanges(at now: Int, wall: Int) -> [ThrottleChange] {
        let offset = wall - now / 1_000_000_000
        // If the wall clock was set, all stored times are wrong. Rounding alone changes the offset by a second.
        if let before = storing.clockOffset, abs(offset - before) > 2 { storing.mustRewrite = true }
        storing.clockOffset = offset
        let changed = (accounts: accounts.takeChangedKeys(), sources: sources.takeChangedKeys())
        guard !storing.mustRewrite, let accountKeys = changed.accounts, let sourceKeys = changed.sources else {
            storing.mustRewrite = false
            let records = [accounts, sources].flatMap { table in
                table.records.compactMap { table.stored($0, at: now, wall: wall) }
            }
            return [.removeAll] + records.map(ThrottleChange.save)
        }
        return [accountKeys, sourceKeys].joined().map { key in
            let stored = self[key].record(key, at: now).flatMap { self[key].stored($0, at: now, wall: wall) }
            return stored.map(ThrottleChange.save) ?? .remove(key)
        }
    }

    /// Adds changes that could not be stored to those of the next write.
    mutating func putBack(_ changes: ArraySlice<ThrottleChange>) {
        for change in changes {
            switch change {
            case .removeAll: storing.mustRewrite = true
            case .save(let record): self[record.key].markChanged(record.key)
            case .remove(let key): self[key].markChanged(key)
            }
        }
    }
}
