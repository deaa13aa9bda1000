// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmKit
internal import Slots

/// The waiting requests of each source, and the number of its requests that run.
///
/// The sources take turns. A source whose requests hold as many processes as it may hold misses its turn.
struct HelperQueue {
    private var jobs = FairQueue()
    /// The sources with waiting requests; the first one has the next turn.
    private var rotation: [String] = []
    private var running: [String: Int] = [:]
    private let limit: Int
    /// The source of requests that did not come over a network; it has no limit.
    private let ownSource = ClientNetwork.source(nil)

    /// - Parameter limit: The maximum number of requests of one source that run at a time.
    init(limit: Int) {
        self.limit = limit
    }

    /// The number of waiting requests.
    var count: Int { jobs.count }

    /// The first request of each source.
    var firstJobs: [UInt64] { jobs.firstJobs }

    /// Returns the number of processes that a source may hold besides those that it holds.
    private func room(of source: String) -> Int {
        source.utf8.elementsEqual(ownSource.utf8) ? Int.max : max(0, limit - running[source, default: 0])
    }

    /// Returns whether a new request exceeds a limit for waiting requests.
    ///
    /// Requests that a free slot can take at once do not count.
    ///
    /// - Parameters:
    ///   - source: The source of the new request.
    ///   - limit: The maximum number of waiting requests.
    ///   - free: The number of free slots.
    /// - Returns: True if the request, or another one, must be rejected.
    func isFull(for source: String, limit: Int, free: Int) -> Bool {
        let ready = rotation.reduce(0) { $0 + min(jobs.count(of: $1), room(of: $1)) }
        if ready < free, jobs.count(of: source) < room(of: source) { return false }
        return jobs.count - min(ready, free) >= limit
    }

    /// Returns the request to reject when the queue is full, as `FairQueue` does.
    func jobToReject(for source: String, cancelsOldest: Bool) -> UInt64? {
        jobs.jobToReject(for: source, cancelsOldest: cancelsOldest)
    }

    mutating func append(_ number: UInt64, of source: String) {
        if jobs.count(of: source) == 0 { rotation.append(source) }
        jobs.append(number, of: source)
    }

    /// Removes a waiting request.
    mutating func remove(_ number: UInt64, of source: String) {
        guard jobs.remove(number, of: source) else { return }
        if jobs.count(of: source) == 0 { rotation.removeAll { $0 == source } }
    }

    /// Removes the request whose turn it is, and counts it as running until ``end(of:)``.
    mutating func takeNext() -> UInt64? {
        guard let place = rotation.firstIndex(where: { room(of: $0) > 0 }) else { return nil }
        let source = rotation.remove(at: place)
        guard let number = jobs.oldest(of: source), jobs.remove(number, of: source) else { return nil }
        if jobs.count(of: source) > 0 { rotation.append(source) }
        running[source, default: 0] += 1
        return number
    }

    /// Counts the end of a running request.
    mutating func end(of source: String) {
        let left = running[source, default: 0] - 1
        running[source] = left > 0 ? left : nil
    }
}
