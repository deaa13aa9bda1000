// SPDX-License-Identifier: Apache-2.0

internal import DequeModule

/// The waiting jobs of each source.
///
/// The sources take turns.
package struct FairQueue: Sendable {
    private var jobsBySource: [String: Deque<UInt64>] = [:]
    private var rotation: Deque<String> = []
    /// The number of waiting jobs.
    package private(set) var count = 0

    package init() {}

    /// Returns the number of waiting jobs of a source.
    package func count(of source: String) -> Int { jobsBySource[source]?.count ?? 0 }

    /// The first job of each source.
    package var firstJobs: [UInt64] { rotation.compactMap { jobsBySource[$0]?.first } }

    /// The source with the most waiting jobs; nil if the queue is empty.
    package var longest: (source: String, count: Int)? {
        var longest: (source: String, count: Int)?
        for source in rotation {
            let count = count(of: source)
            if count > longest?.count ?? 0 { longest = (source, count) }
        }
        return longest
    }

    package func oldest(of source: String) -> UInt64? { jobsBySource[source]?.first }

    package func newest(of source: String) -> UInt64? { jobsBySource[source]?.last }

    /// The job whose turn it is.
    ///
    /// It is not removed.
    package var next: UInt64? { rotation.first.flatMap { jobsBySource[$0]?.first } }

    package mutating func append(_ number: UInt64, of source: String) {
        if jobsBySource[source, default: []].isEmpty { rotation.append(source) }
        jobsBySource[source, default: []].append(number)
        count += 1
    }

    /// Removes the job whose turn it is.
    ///
    /// The next job of the same source follows after one job of each other source.
    package mutating func takeNext() -> UInt64? {
        guard let source = rotation.popFirst(), let number = jobsBySource[source]?.popFirst() else { return nil }
        count -= 1
        if jobsBySource[source]?.isEmpty == true { jobsBySource[source] = nil } else { rotation.append(source) }
        return number
    }

    /// Removes a job; returns false if it is not in the queue.
    package mutating func remove(_ number: UInt64, of source: String) -> Bool {
        guard let place = jobsBySource[source]?.firstIndex(of: number) else { return false }
        jobsBySource[source]?.remove(at: place)
        count -= 1
        if jobsBySource[source]?.isEmpty == true {
            jobsBySource[source] = nil
            rotation.removeAll { $0 == source }
        }
        return true
    }

    /// Returns the waiting job to be rejected for a new job when the queue is full; nil if the new job is to be rejected.
    ///
    /// - Parameters:
    ///   - source: The source of the new job.
    ///   - cancelsOldest: True to reject the oldest job of the source with the most waiting jobs. False to reject the new
    ///     job or, if another source has more waiting jobs, the newest job of that source.
    /// - Returns: The job.
    package func jobToReject(for source: String, cancelsOldest: Bool) -> UInt64? {
        guard let longest else { return nil }
        if cancelsOldest { return oldest(of: longest.source) }
        return longest.count > count(of: source) + 1 ? newest(of: longest.source) : nil
    }
}
