// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The table from the status and the reason of a response to the result of a login.
///
/// An entry is `STATUS:RESULT` or `STATUS/REASON:RESULT`. The status has three digits, or a digit and `xx` for all
/// statuses of a class. The result is `accepted` or the code of a failure.
struct OutcomeTable: Sendable {
    enum Outcome: Sendable, Hashable {
        case accepted
        case failed(LoginFailure)
    }

    private struct Key: Hashable {
        /// 200 to 599, or 2 to 5 for a class.
        let status: Int
        let reason: UTF8Text?
    }

    /// The entries that apply to statuses without an entry of their own.
    ///
    /// 202 and 206 do not accept: such a service has not decided. 404 usually means a wrong URL, so it is not the failure
    /// `unknown-user`. 429 means too many requests. Any other status means `unavailable`.
    static let defaults = [
        "200:accepted", "204:accepted", "401:wrong-credentials", "403:permission-denied", "423:locked",
        "429:overloaded",
    ]

    private var entries: [Key: Outcome] = [:]

    /// Reads entries; the defaults of a status apply only if there is no entry for the status or its class, with or
    /// without a reason.
    init(_ words: [String]) throws(BadValue) {
        for word in words {
            let (key, outcome) = try Self.entry(word)
            guard entries.updateValue(outcome, forKey: key) == nil else {
                throw BadValue("has two entries for the same status and reason: \(word)")
            }
        }
        let statuses = Set(entries.keys.map(\.status))
        for word in Self.defaults {
            let (key, outcome) = try Self.entry(word)
            if !statuses.contains(key.status), !statuses.contains(key.status / 100) { entries[key] = outcome }
        }
    }

    private static func entry(_ word: String) throws(BadValue) -> (Key, Outcome) {
        let error = BadValue(
            "takes entries such as 401:wrong-credentials or 403/expired:credential-expired, not \(word)"
        )
        guard let colon = word.lastIndex(of: ":") else { throw error }
        let result = String(word[word.index(after: colon)...])
        let condition = word[..<colon]
        let slash = condition.firstIndex(of: "/") ?? condition.endIndex
        let reason = slash == condition.endIndex ? nil : String(condition[condition.index(after: slash)...])
        guard let status = status(condition[..<slash]), reason != "" else { throw error }
        let key = Key(status: status, reason: reason.map { UTF8Text($0) })
        if result == "accepted" { return (key, .accepted) }
        guard let failure = LoginFailure(code: result) else {
            let codes = LoginFailure.allCases.map(\.code).joined(separator: ", ")
            throw BadValue("has the unknown result \(result); known results: accepted, \(codes)")
        }
        return (key, .failed(failure))
    }

    private static func status(_ text: Substring) -> Int? {
        guard text.utf8.count == 3, let first = text.utf8.first.map({ Int($0) - 0x30 }), (2...5).contains(first) else {
            return nil
        }
        if text.dropFirst() == "xx" { return first }
        guard text.utf8.allSatisfy(ASCII.isDigit) else { return nil }
        return Int(text)
    }

    /// Returns the result for a response; nil if no entry applies.
    ///
    /// An entry with the reason has priority. An entry that accepts applies to a response with a reason only if it has
    /// that reason, because the reason may be that of a refusal.
    func outcome(status: Int, reason: String?) -> Outcome? {
        if let reason {
            let text = UTF8Text(reason)
            if let outcome = entries[Key(status: status, reason: text)]
                ?? entries[Key(status: status / 100, reason: text)]
            {
                return outcome
            }
        }
        let outcome = entries[Key(status: status, reason: nil)] ?? entries[Key(status: status / 100, reason: nil)]
        return outcome == .accepted && reason != nil ? nil : outcome
    }
}
