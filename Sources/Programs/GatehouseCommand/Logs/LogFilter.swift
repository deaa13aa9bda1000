// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

struct LogFilter: Sendable {
    var user: UTF8Text?
    var address: UTF8Text?
    var since: LogTime?
    /// The time before which the entries must be.
    var until: LogTime?
    var onlyFailures = false

    func includes(_ entry: LogEntry) -> Bool {
        if let since, entry.time < since { return false }
        if let until, entry.time >= until { return false }
        if let user, entry[.user] != user { return false }
        if let address, entry[.address] != address { return false }
        return !onlyFailures || entry.isFailure
    }
}

/// Finds the second line of a refused sign-in, which has a line of its own, and then a line of the access log.
struct RepeatedFailures {
    /// The maximum time between the two lines, in milliseconds.
    private static let maximumTime = 60_000
    /// The maximum number of lines whose second line is awaited.
    private static let maximumWaiting = 4096

    private struct Failure: Hashable {
        let user, realm, address, reason: UTF8Text?

        init(_ entry: LogEntry) {
            (user, realm, address, reason) = (entry[.user], entry[.realm], entry[.address], entry.reason)
        }
    }

    /// The times of the first lines, in their order.
    private var waiting: [Failure: [LogTime]] = [:]
    private var count = 0
    private var lastRemoval = LogTime(milliseconds: 0)

    /// True if an entry is the second line of a failure; takes each entry of the log in order.
    mutating func isRepeated(_ entry: LogEntry) -> Bool {
        switch entry.kind {
        case .signInRefused, .checkRefused:
            if count >= Self.maximumWaiting, entry.time.milliseconds - lastRemoval.milliseconds > Self.maximumTime {
                removeOld(at: entry.time)
            }
            if count < Self.maximumWaiting {
                waiting[Failure(entry), default: []].append(entry.time)
                count += 1
            }
            return false
        case .request where entry.reason != nil && !waiting.isEmpty:
            let failure = Failure(entry)
            guard var times = waiting[failure] else { return false }
            let known = times.count
            times.removeAll { entry.time.milliseconds - $0.milliseconds > Self.maximumTime }
            let isRepeated = !times.isEmpty
            if isRepeated { times.removeFirst() }
            count -= known - times.count
            waiting[failure] = times.isEmpty ? nil : times
            return isRepeated
        case .request, .sessionBegun, .sessionEnded, .presentedElsewhere, .locked, .other: return false
        }
    }

    private mutating func removeOld(at now: LogTime) {
        lastRemoval = now
        waiting = waiting.compactMapValues { times in
            let recent = times.filter { now.milliseconds - $0.milliseconds <= Self.maximumTime }
            return recent.isEmpty ? nil : recent
        }
        count = waiting.values.reduce(0) { $0 + $1.count }
    }
}
