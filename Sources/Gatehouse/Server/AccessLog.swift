// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Logging
internal import RealmConfiguration
internal import RealmKit

/// A line for every request: who, what, how it was answered, how long it took.
///
/// The line never holds a query, a header field or anything else that may be a secret, and everything that came from
/// outside is written so that it cannot forge another line.
struct AccessLog {
    private let logger: Logger
    private let clock: SystemClock
    /// Whether lines are written at all.
    let isOn: Bool

    init(_ logger: Logger, clock: SystemClock, isOn: Bool) {
        self.logger = logger
        self.clock = clock
        self.isOn = isOn
    }

    /// What a line is about.
    struct Entry {
        var peer: String?
        var user: (username: Username, realm: String)?
        var method = "-"
        /// The path; nil where it was doubtful.
        var path: String?
        var status = 0
        var length = 0
        /// Why somebody was refused.
        var reason = ""
    }

    /// When a request begins, or 0 if nobody wants to know.
    var now: UInt64 { isOn ? clock.now : 0 }

    func note(_ entry: Entry, since begin: UInt64) {
        let user = entry.user.map { "\(Self.quoted($0.username.text))@\(Self.quoted($0.realm))" } ?? "-"
        let target = entry.path.map { Self.quoted($0) } ?? "(doubtful path)"
        let microseconds = (clock.now &- begin) / 1000
        logger.info(
            "\(entry.peer ?? "-") \(user) \(Self.quoted(entry.method)) \(target) \(entry.status) \(entry.length) \(microseconds)us\(entry.reason)"
        )
    }

    /// Why somebody was refused; where a module broke or could not ask, what it said of that.
    static func reason(_ report: LoginReport) -> String {
        switch report.refusal {
        case nil: return ""
        case .allIgnored: return " all-ignored"
        case .emptyStack: return " empty-stack"
        case .nobodyNamed: return " nobody-named"
        case .locked: return " locked"
        case .module(let index, let phase, let failure):
            let fault = report.steps.first { $0.index == index && $0.phase == phase }?.fault
            return " \(failure.code) module=\(index) phase=\(phase.name)" + (fault.map { " \(quoted($0.log))" } ?? "")
        }
    }

    /// Text between quotes in which everything but plain characters is written by its number.
    static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy { byte in
            byte >= 0x20 && byte <= 0x7E && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
        }
        guard !isPlain else { return "\"\(text)\"" }
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result + "\""
    }
}
