// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import Hummingbird
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

    init(_ logger: Logger, clock: SystemClock) {
        self.logger = logger
        self.clock = clock
    }

    var now: UInt64 { clock.now }

    func note(
        _ request: Request,
        path: RequestPath?,
        peer: String?,
        report: LoginReport?,
        _ response: Response,
        since begin: UInt64
    ) {
        let user = report.map { "\(Self.quoted($0.username.text))@\(Self.quoted($0.realm))" } ?? "-"
        let target = path.map { Self.quoted($0.text) } ?? "(doubtful path)"
        let why = report.map { Self.reason($0) } ?? ""
        let length = response.headers[.contentLength] ?? "0"
        let microseconds = (clock.now &- begin) / 1000
        logger.info(
            "\(peer ?? "-") \(user) \(Self.quoted(request.method.rawValue)) \(target) \(response.status.code) \(length) \(microseconds)us\(why)"
        )
    }

    /// Why somebody was refused; where a module broke or could not ask, what it said of that.
    private static func reason(_ report: LoginReport) -> String {
        switch report.refusal {
        case nil: return ""
        case .allIgnored: return " all-ignored"
        case .emptyStack: return " empty-stack"
        case .nobodyNamed: return " nobody-named"
        case .module(let index, let phase, let failure):
            let fault = report.steps.first { $0.index == index && $0.phase == phase }?.fault
            return " \(failure.code) module=\(index) phase=\(phase.name)" + (fault.map { " \(quoted($0.log))" } ?? "")
        }
    }

    /// Text between quotes in which everything but plain characters is written by its number.
    static func quoted(_ text: String) -> String {
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
