// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A list of events, in order; a test can wait until it has a number of entries.
final class Journal<Entry: Sendable>: Sendable {
    private struct State {
        var entries: [Entry] = []
        var waiting: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var entries: [Entry] { state.withLock { $0.entries } }
    var count: Int { state.withLock { $0.entries.count } }

    /// Adds an entry and returns its index.
    @discardableResult
    func add(_ entry: Entry) -> Int {
        let (number, waiting) = state.withLock { state in
            state.entries.append(entry)
            let count = state.entries.count
            let served = state.waiting.filter { $0.count <= count }
            state.waiting.removeAll { $0.count <= count }
            return (count - 1, served)
        }
        waiting.forEach { $0.continuation.resume() }
        return number
    }

    func wait(for count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                guard state.entries.count < count else { return true }
                state.waiting.append((count, continuation))
                return false
            }
            if isThere { continuation.resume() }
        }
    }
}
