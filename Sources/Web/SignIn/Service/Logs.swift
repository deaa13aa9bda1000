// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import Logging
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Synchronization

/// An event that `gatehouse log` reads back, with the text at the beginning of its lines.
package enum LoggedEvent: String, Sendable, CaseIterable {
    case sessionBegun = "a session has begun"
    case sessionEnded = "a session has ended"
    case sessionElsewhere = "a session was presented at another host"
    case handOverElsewhere = "the code of a hand-over was presented in the wrong place"
    case signInRefused = "a sign-in was refused:"
    case checkRefused = "a program has checked a login: refused:"
    case locked = "locked after"
}

/// A field that `gatehouse log` reads back, in a line as `name=value`.
package enum LogField: String, Sendable, Hashable {
    case user, realm, address, session, host, cause, rule, needs, has, module, phase, answers
    case deniedBy = "denied-by"
    /// The request that a proxy has asked about.
    case original = "for"
    /// The account or the network that was locked.
    case locked

    /// The quotes around the value of a field; a value that is always quoted is not trusted without them.
    package enum Quoting {
        case always, never, either

        package func allows(quoted isQuoted: Bool) -> Bool { self == .either || (self == .always) == isQuoted }
    }

    package var quoting: Quoting {
        switch self {
        case .user, .realm, .needs, .has, .answers, .original: .always
        case .deniedBy: .never
        case .address, .session, .host, .cause, .rule, .module, .phase, .locked: .either
        }
    }

    /// Returns a space, and the field with a value.
    func text(_ value: String) -> String { " \(rawValue)=\(written(value))" }

    private func written(_ value: String) -> String { quoting == .always ? LogText.quoted(value) : value }

    static func fields(of report: LoginReport) -> [LogField: String] {
        [.user: report.username.text, .realm: report.realm, .address: report.peer ?? "-"]
    }

    static func metadata(_ fields: [LogField: String]) -> Logger.Metadata {
        Logger.Metadata(uniqueKeysWithValues: fields.map { ($0.rawValue, "\($0.written($1))") })
    }
}

/// Logs sign-ins, ends of sessions and rejected sign-ins, even if requests are not logged (ASVS 16.3.1).
struct SessionLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func logBeginning(_ session: Session) { log(LoggedEvent.sessionBegun.rawValue, session) }

    func logEnd(_ session: Session, _ cause: SessionEndCause) {
        log(LoggedEvent.sessionEnded.rawValue, session, ["cause": "\(cause.rawValue)"])
    }

    /// Logs that the cookie of a session was sent to another host, which a browser never does, so the cookie was
    /// copied.
    func logWrongHost(_ session: Session, at host: SessionHost) {
        log(LoggedEvent.sessionElsewhere.rawValue, session, ["presented-at": "\(host)"], level: .warning)
    }

    /// Logs that the code of a hand-over was presented at another host or with the verifier of another browser.
    ///
    /// Two tabs of one browser that are opened at the same time may do this; from another address, the code was
    /// probably copied.
    func logRejectedHandOver(of session: Session, to origin: SignInSettings.Origin, reason: String, address: String?) {
        let isSameAddress = address != nil && address == session.client.address
        log(
            isSameAddress
                ? "the code of a hand-over was presented by another tab, or by another browser of the same address"
                : LoggedEvent.handOverElsewhere.rawValue,
            session,
            ["presented-at": "\(origin)", "presented-by": "\(address ?? "-")", "reason": "\(LogText.quoted(reason))"],
            level: isSameAddress ? .info : .warning
        )
    }

    /// Logs that a session has ended in memory, but not in the store.
    func logUnstoredEnd(_ session: Session) {
        let text = "the end of a session could not be stored, so the session may be valid again after a restart"
        log(text, session, level: .error)
    }

    func logRejection(_ report: LoginReport, for rule: ProtectRule?) {
        var fields = LogField.fields(of: report)
        fields[.rule] = rule.map(LogText.ruleName)
        logger.info(
            "\(LoggedEvent.signInRefused.rawValue)\(LogText.reason(report))",
            metadata: LogField.metadata(fields)
        )
    }

    private func log(
        _ text: String,
        _ session: Session,
        _ details: Logger.Metadata = [:],
        level: Logger.Level = .info
    ) {
        let metadata = LogField.metadata([
            .user: session.user.username.text, .realm: session.user.realm, .session: "\(session.id)",
            .host: "\(session.host)", .address: session.client.address ?? "-",
        ])
        logger.log(level: level, "\(text)", metadata: metadata.merging(details) { _, detail in detail })
    }
}

/// Logs the checks of programs, and the programs that are refused, even if requests are not logged (ASVS 16.3.1).
struct ProgramLog: Sendable {
    private let logger: Logger

    init(_ logger: Logger) { self.logger = logger }

    func logCheck(_ report: LoginReport, by program: String, at address: String?) {
        let text =
            report.refusal == nil ? "a program has checked a login: accepted" : LoggedEvent.checkRefused.rawValue
        var metadata = LogField.metadata(LogField.fields(of: report))
        metadata.merge(Self.metadata(program, at: address)) { _, new in new }
        logger.info("\(text)\(LogText.reason(report))", metadata: metadata)
    }

    func logRefusal(_ reason: String, of program: String?, at address: String?) {
        logger.notice("a program was refused: \(reason)", metadata: Self.metadata(program, at: address))
    }

    private static func metadata(_ program: String?, at address: String?) -> Logger.Metadata {
        ["program": "\(program ?? "-")", "program-address": "\(address ?? "-")"]
    }
}

/// Logs the password checks that the hashing pool has rejected, at most every ten seconds.
final class HashingRejectionLog: Sendable {
    private static let minimumInterval = Duration.seconds(10)

    private struct State {
        /// The number of rejected checks that have been logged.
        var logged = 0
        var last: ContinuousClock.Instant?
    }

    private let logger: Logger
    private let state = Mutex(State())

    init(_ logger: Logger) { self.logger = logger }

    /// Logs the checks that were rejected since the last log line, if there are any.
    func logRejections(of pool: HashingPool, now: ContinuousClock.Instant = .now) {
        let numbers = pool.statistics
        let rejected = numbers.refused + numbers.timedOut
        let newRejections = state.withLock { state -> Int in
            // After a reload, the counts of the new pool begin at zero.
            if rejected < state.logged { state.logged = 0 }
            guard rejected > state.logged, state.last.map({ now - $0 >= Self.minimumInterval }) ?? true else {
                return 0
            }
            defer { state = State(logged: rejected, last: now) }
            return rejected - state.logged
        }
        guard newRejections > 0 else { return }
        logger.warning(
            "password checks were refused, as too many were waiting",
            metadata: [
                "refused": "\(newRejections)", "waiting": "\(numbers.waiting)", "running": "\(numbers.running)",
                "workers": "\(pool.settings.workers)",
            ]
        )
    }
}
