// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Synchronization

extension FailureThrottle {
    /// Takes over what the store has kept; to be called before the first login.
    ///
    /// - Throws: ``ThrottleStoreError`` when it cannot be read; nothing is taken over then.
    public func restore() async throws(ThrottleStoreError) {
        guard let store else { return }
        let snapshot = try await store.load()
        let wall = wall()
        state.withLock { state in
            state.storing.lastClearance = snapshot.lastClearance
            // In the order in which they will be over: a ledger relies on it to drop them cheaply.
            for record in snapshot.records.sorted(by: { ($0.lockEnd ?? 0, $0.newest) < ($1.lockEnd ?? 0, $1.newest) }) {
                switch record.key {
                case .account: state.accounts.restore(record, moment, wall: wall)
                case .source: state.sources.restore(record, moment, wall: wall)
                }
            }
        }
    }

    /// Stores what has changed, after taking over what others have cleared in the store.
    ///
    /// One call at a time does so; another one meanwhile returns at once.
    ///
    /// - Throws: ``ThrottleStoreError`` when the store fails; what is not stored is tried again at the next call.
    public func flush() async throws(ThrottleStoreError) {
        guard let store else { return }
        let last: Int? = state.withLock { state in
            guard !state.storing.isFlushing else { return nil }
            state.storing.isFlushing = true
            return state.storing.lastClearance
        }
        guard let last else { return }
        defer { state.withLock { $0.storing.isFlushing = false } }
        takeOver(try await store.clearances(after: last))
        let wall = wall()
        var rest = state.withLock { $0.takeChanges(moment, wall: wall) }[...]
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

    /// Stores what has changed again and again, and at once when a lock begins, until the task is cancelled; then once
    /// more.
    ///
    /// It is for one task at a time, and returns at once where there is no store.
    ///
    /// - Parameters:
    ///   - interval: How long to wait between two times; also how long it takes at most until what another program has
    ///     cleared is cleared here.
    ///   - report: Told what went wrong; it is tried again.
    public func run(every interval: Duration, reporting report: (ThrottleStoreError) -> Void) async {
        guard store != nil else { return }
        while !Task.isCancelled {
            await pause(interval)
            guard !Task.isCancelled else { break }
            do throws(ThrottleStoreError) { try await flush() } catch { report(error) }
        }
        // In a task that is not cancelled: a store may refuse to work for one that is, and what has failed last were lost.
        let last = await Task { () -> ThrottleStoreError? in
            do throws(ThrottleStoreError) { try await flush() } catch { return error }
            return nil
        }.value
        if let last { report(last) }
    }

    /// Has ``run(every:reporting:)`` go on at once.
    func hurry() {
        let idle = state.withLock { state in
            state.storing.isUrgent = true
            return state.storing.idle.take()
        }
        idle?.resume()
    }

    private func pause(_ interval: Duration) async {
        let ticket = watch.add(at: clock.now &+ UInt64(interval.nanoseconds)) { [weak self] _ in
            self?.hurry()
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
            hurry()
        }
        watch.forget(ticket)
        state.withLock { $0.storing.isUrgent = false }
    }

    private func takeOver(_ clearances: [Clearance]) {
        let woken = state.withLock { state in
            clearances.flatMap { clearance in
                state.storing.lastClearance = max(state.storing.lastClearance, clearance.number)
                return state.clear(clearance.what, moment)
            }
        }
        woken.forEach { $0.wake() }
    }
}

extension ThrottleState {
    /// Takes note that changes could not be stored.
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
