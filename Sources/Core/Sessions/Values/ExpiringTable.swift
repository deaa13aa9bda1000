// SPDX-License-Identifier: Apache-2.0

package import OpenSSLKit
package import RealmKit
internal import Synchronization

/// Values for a limited time, each with a key and an owner: a network or a session.
///
/// The number of values of an owner and in total is limited. If an owner has too many, its oldest value is removed; if
/// there are too many in total, the oldest value of the owner with the most values. So a client never removes a value of
/// another owner, unless the table is full and no owner has more than one value (CVE-2026-77561).
///
/// The table may be used from any thread.
package final class ExpiringTable<Owner: Hashable & Sendable, Value: Sendable>: Sendable {
    package enum Taken: Sendable {
        case none
        /// The value of the key is not the expected value, and keeps its deadline.
        case another
        case taken(Value)
    }

    private struct Entry {
        let key: Digest
        let value: Value
        let owner: Owner
        let number: UInt64
        let deadline: UInt64
    }

    private struct State {
        var entries: [Digest: Entry] = [:]
        /// The keys of each owner, in the order in which their values were added.
        var owners: [Owner: [Digest]] = [:]
        var lastNumber: UInt64 = 0

        mutating func remove(_ key: Digest) -> Entry? {
            guard let entry = entries.removeValue(forKey: key) else { return nil }
            owners[entry.owner]?.removeAll { $0 == key }
            if owners[entry.owner]?.isEmpty == true { owners[entry.owner] = nil }
            return entry
        }

        /// The value to remove if the table is full: the oldest one of the owner with the most values, or of all owners
        /// that have as many.
        var evictionCandidate: Digest? {
            let largest = owners.values.max { left, right in
                left.count != right.count ? left.count < right.count : age(left) > age(right)
            }
            return largest?.first
        }

        private func age(_ keys: [Digest]) -> UInt64 { keys.first.flatMap { entries[$0]?.number } ?? .max }
    }

    private let limit: Int
    private let perOwner: Int
    private let lifetime: UInt64
    private let clock: any LoginClock
    private let onRemoval: @Sendable (Value) -> Void
    private let state = Mutex(State())

    /// A table for at least one value; the lifetime is in nanoseconds, and the closure gets each value that expires, is
    /// replaced or is removed because of a limit.
    package init(
        limit: Int,
        perOwner: Int,
        lifetime: UInt64,
        clock: any LoginClock,
        onRemoval: @escaping @Sendable (Value) -> Void
    ) {
        self.limit = max(limit, 1)
        self.perOwner = max(perOwner, 1)
        self.lifetime = lifetime
        self.clock = clock
        self.onRemoval = onRemoval
    }

    package var count: Int { state.withLock { $0.entries.count } }

    /// Adds a value; false if the key has another one that must not be replaced, so that the closure gets this one.
    @discardableResult
    package func put(_ value: Value, for key: Digest, of owner: Owner, replacing: Bool = true) -> Bool {
        let (deadline, overflow) = clock.now.addingReportingOverflow(lifetime)
        let removed: [Value]? = state.withLock { state in
            var removed: [Entry?] = []
            if !replacing, state.entries[key] != nil { return nil }
            removed.append(state.remove(key))
            state.lastNumber += 1
            state.entries[key] = Entry(
                key: key,
                value: value,
                owner: owner,
                number: state.lastNumber,
                deadline: overflow ? .max : deadline
            )
            state.owners[owner, default: []].append(key)
            if let own = state.owners[owner], own.count > perOwner { removed.append(state.remove(own[0])) }
            if state.entries.count > limit, let candidate = state.evictionCandidate {
                removed.append(state.remove(candidate))
            }
            return removed.compactMap { $0?.value }
        }
        (removed ?? [value]).forEach(onRemoval)
        return removed != nil
    }

    package func peek(_ key: Digest) -> Value? {
        let now = clock.now
        return state.withLock { state in state.entries[key].flatMap { now < $0.deadline ? $0.value : nil } }
    }

    /// Removes and returns the value of a key, if it is the expected one; the closure must not call this table.
    package func take(_ key: Digest, if isExpected: (Value) -> Bool = { _ in true }) -> Taken {
        let now = clock.now
        let (entry, isAnother) = state.withLock { state -> (Entry?, Bool) in
            guard let entry = state.entries[key] else { return (nil, false) }
            if now < entry.deadline, !isExpected(entry.value) { return (nil, true) }
            return (state.remove(key), false)
        }
        guard let entry else { return isAnother ? .another : .none }
        guard now < entry.deadline else {
            onRemoval(entry.value)
            return .none
        }
        return .taken(entry.value)
    }

    package func sweep(_ now: UInt64) {
        let expired = state.withLock { state in
            state.entries.values.filter { $0.deadline <= now }.compactMap { state.remove($0.key) }
        }
        for entry in expired { onRemoval(entry.value) }
    }

    package func removeAll() {
        let all = state.withLock { state in
            defer { state = State() }
            return Array(state.entries.values)
        }
        for entry in all { onRemoval(entry.value) }
    }
}
