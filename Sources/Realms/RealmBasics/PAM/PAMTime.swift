// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Glibc
internal import RealmKit

/// Refuses users outside of the times of a file: pam_time(8), for `account` lines.
///
/// The file is read at each login. A line is `SERVICES;TTYS;USERS;TIMES`; its terminals must be `*`.
struct PAMTime: LoginModule {
    static let moduleNames = ["pam_time"]
    static let options = PAMArguments.options

    private let path: String
    private let service: String
    private let now: @Sendable () -> PAMTimeRules.Moment
    private let reader = ModuleFileReader("pam_time")

    init(realm: any Realm, options: ModuleOptions) throws(BadModule) {
        let arguments = try PAMArguments(options)
        guard arguments.isAccount else { throw BadModule("can only be in an account line") }
        let values = try arguments.values(["conffile"], flags: ["debug", "noaudit"])
        let path = values["conffile"] ?? "/etc/security/time.conf"
        guard path.hasPrefix("/") else { throw BadModule("needs conffile= with the whole path") }
        try self.init(path, service: arguments.service) {
            var seconds = time(nil)
            var local = unsafe tm()
            unsafe localtime_r(&seconds, &local)
            let (day, hour, minute) = unsafe (Int(local.tm_wday), Int(local.tm_hour), Int(local.tm_min))
            return PAMTimeRules.Moment(day: day, time: hour * 100 + minute)
        }
    }

    init(
        _ path: String,
        service: String,
        now: @escaping @Sendable () -> PAMTimeRules.Moment
    ) throws(BadModule) {
        (self.path, self.service, self.now) = (path, service, now)
        do throws(FileFault) { _ = try rules() } catch { throw BadModule("\(error)") }
    }

    private func rules() throws(FileFault) -> PAMTimeRules {
        let bytes = try ModuleFileReader.contents(of: path)
        do throws(PAMTimeRules.BadLine) {
            return try PAMTimeRules(String(decoding: bytes, as: UTF8.self))
        } catch {
            throw FileFault("\(path):\(error.line): \(error.reason)")
        }
    }

    func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
        let rules = try await reader.run { Result { () throws(FileFault) in try self.rules() } }
            .mapError { LoginFault.internalError("pam_time: \($0)") }.get()
        return rules.allow(service: service, user: attempt.establishedName.text, at: now())
            ? attempt.commit(only: []) : .failed(.permissionDenied)
    }
}

/// The lines of a time.conf.
struct PAMTimeRules: Sendable {
    /// A local time: the day of the week from 0 for Sunday, and the time as the file has it, such as 1730.
    struct Moment: Sendable {
        let day: Int
        let time: Int
    }

    struct BadLine: Error {
        let line: Int
        let reason: String
    }

    /// Terms with `!`, joined by `&` and `|` from the left to the right.
    private struct List<Term: Sendable>: Sendable {
        var terms: [(joinedByOr: Bool, isNegated: Bool, term: Term)] = []

        func holds(_ test: (Term) -> Bool) -> Bool {
            terms.reduce(true) { result, next in
                let value = test(next.term) != next.isNegated
                return next.joinedByOr ? result || value : result && value
            }
        }
    }

    private struct Times: Sendable {
        let days: Set<Int>
        let start: Int
        let end: Int

        func contain(_ moment: Moment) -> Bool {
            let isDay = days.contains(moment.day)
            guard start >= end else { return isDay && start..<end ~= moment.time }
            // The time goes on after midnight.
            let isDayAfter = days.contains((moment.day + 6) % 7)
            return isDay && moment.time >= start || isDayAfter && moment.time <= end
        }
    }

    private var lines: [(services: List<String>, users: List<String>, times: List<Times>)] = []

    init(_ text: String) throws(BadLine) {
        var number = 0
        // By bytes: as a Character, a CR with its LF is no line end.
        for line in text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map({ Substring($0) }) {
            number += 1
            guard !line.utf8.contains(0x0D) else {
                throw BadLine(
                    line: number,
                    reason: "the line ends with CR LF: save the file with the line ends of Unix"
                )
            }
            let words = line.utf8.prefix { $0 != UInt8(ascii: "#") }.filter { $0 != 0x20 && $0 != 0x09 }
            let content = String(decoding: words, as: UTF8.self)
            if content.isEmpty { continue }
            do throws(BadTerm) { try add(content) } catch { throw BadLine(line: number, reason: error.reason) }
        }
    }

    private struct BadTerm: Error { let reason: String }

    private mutating func add(_ line: String) throws(BadTerm) {
        let fields = line.utf8.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false).map {
            String(Substring($0))
        }
        guard fields.count == 4 else { throw BadTerm(reason: "a line is SERVICES;TTYS;USERS;TIMES") }
        guard fields[1] == "*" else { throw BadTerm(reason: "there are no terminals here: write *") }
        lines.append(
            (
                try Self.list(fields[0], Self.name), try Self.list(fields[2], Self.name),
                try Self.list(fields[3], Self.times)
            )
        )
    }

    private static func list<Term: Sendable>(
        _ text: String,
        _ term: (String) throws(BadTerm) -> Term
    ) throws(BadTerm) -> List<Term> {
        var list = List<Term>()
        // By bytes: a combining mark makes one character with the operator before it.
        var rest = text.utf8[...]
        var joinedByOr = false
        repeat {
            let isNegated = rest.first == UInt8(ascii: "!")
            if isNegated { rest.removeFirst() }
            let word = rest.prefix { $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "|") }
            list.terms.append((joinedByOr, isNegated, try term(String(Substring(word)))))
            rest = rest[word.endIndex...]
            joinedByOr = rest.first == UInt8(ascii: "|")
            if rest.isEmpty { return list }
            rest.removeFirst()
        } while true
    }

    private static func name(_ word: String) throws(BadTerm) -> String {
        let stars = word.utf8.count { $0 == UInt8(ascii: "*") }
        guard !word.isEmpty, word.utf8.first != UInt8(ascii: "@"), !word.utf8.contains(UInt8(ascii: "!")), stars <= 1
        else {
            throw BadTerm(reason: "\(word) is not a name, which may have one *")
        }
        return word
    }

    private static let days = [
        "su": [0], "mo": [1], "tu": [2], "we": [3], "th": [4], "fr": [5], "sa": [6], "wk": [1, 2, 3, 4, 5],
        "wd": [0, 6],
        "al": [0, 1, 2, 3, 4, 5, 6],
    ]

    private static func times(_ word: String) throws(BadTerm) -> Times {
        let bad = BadTerm(reason: "\(word) is not a time such as MoTuWe0800-1700")
        var days: Set<Int> = []
        var rest = word.lowercased()[...]
        while let named = Self.days[String(rest.prefix(2))] {
            // A day that occurs twice is left out, as in AlSu for all days but Sunday.
            days.formSymmetricDifference(named)
            rest = rest.dropFirst(2)
        }
        let parts = rest.split(separator: "-", omittingEmptySubsequences: false)
        let ends = parts.compactMap { part in
            part.utf8.count == 4 && part.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(part) : nil
        }
        guard parts.count == 2, ends.count == 2, rest.count < word.count,
            ends.allSatisfy({ $0 <= 2400 && $0 % 100 < 60 })
        else { throw bad }
        return Times(days: days, start: ends[0], end: ends[1])
    }

    /// Returns whether all lines for the service and the user contain the moment.
    func allow(service: String, user: String, at moment: Moment) -> Bool {
        lines.allSatisfy { line in
            let isMeant =
                line.services.holds { Self.matches($0, service) } && line.users.holds { Self.matches($0, user) }
            return !isMeant || line.times.holds { $0.contain(moment) }
        }
    }

    private static func matches(_ pattern: String, _ text: String) -> Bool {
        let parts = pattern.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return pattern.utf8.elementsEqual(text.utf8) }
        return text.utf8.count >= parts[0].count + parts[1].count && text.utf8.starts(with: parts[0])
            && text.utf8.reversed().starts(with: parts[1].reversed())
    }
}
