// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

/// Finds the second line of a refused sign-in, which has a line of its own, and then a line of the access log.
struct RepeatedFailures {
    /// The maximum time between the two lines, in milliseconds.
    private static let maximumTime = 60_000
    /// The maximum number of lines whose second line is awaited.
    static let maximumWaiting = 4096

    struct Failure: Equatable {
        let user, realm, address, reason, answers: UTF8Text?

        init(_ entry: LogEntry) {
            (user, realm, address, reason) = (entry[.user], entry[.realm], entry[.address], entry.reason)
            answers = entry[.answers]
        }
    }

    /// The first lines in their order, with their times.
    private(set) var waiting: [(failure: Failure, time: Int, isSelected: Bool)] = []

    /// True if an entry is the second line of a failure whose first line was selected; takes each entry of the log in order.
    mutating func isRepeated(_ entry: LogEntry, isSelected: Bool = true) -> Bool {
        let isFirst = entry.kind == .signInRefused || entry.kind == .checkRefused
        guard isFirst || entry.kind == .request && entry.reason != nil else { return false }
        let (failure, now) = (Failure(entry), entry.time.milliseconds)
        waiting.removeFirst(waiting.prefix { now - $0.time > Self.maximumTime }.count)
        if isFirst {
            if waiting.count < Self.maximumWaiting { waiting.append((failure, now, isSelected)) }
            return false
        }
        guard let first = waiting.firstIndex(where: { $0.failure == failure && now - $0.time <= Self.maximumTime })
        else { return false }
        return waiting.remove(at: first).isSelected
    }
}
