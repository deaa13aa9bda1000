// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Prover
internal import RealmKit
internal import SignIn

/// The explanations of refused logins in a log, by the stacks of a configuration that may have changed since.
struct RefusedLogins {
    private let realms: [BoundRealm]
    /// The lines of refusals that were alike: a log has many of them, and a proof is slower than reading a line.
    private var known: [[UTF8Text?]: [String]] = [:]
    private static let maximumKnown = 1000

    init(_ realms: [BoundRealm]) { self.realms = realms }

    /// Returns the module that decided a refused login, and the answers that would have granted it, in ASCII; no lines for other
    /// entries.
    mutating func lines(about entry: LogEntry) -> [String] {
        guard entry.isFailure, let reason = entry.reason else { return [] }
        let refusal = [reason, entry[.realm], entry[.module], entry[.phase], entry[.answers]]
        if let lines = known[refusal] { return lines }
        let lines = explanation(of: entry, reason).map { LogEntry.plain(UTF8Text($0)) }
        if known.count < Self.maximumKnown { known[refusal] = lines }
        return lines
    }

    private func explanation(of entry: LogEntry, _ reason: UTF8Text) -> [String] {
        if reason == "locked" { return ["no module has decided: see gatehouse lockouts list"] }
        guard let text = entry[.answers]?.string else {
            return [
                "the line has no answers: the account was locked, the client closed the connection, or the server was older"
            ]
        }
        if text.hasSuffix("...") { return ["the line has only the first answers of the login"] }
        // Given answers do not depend on the name.
        guard let name = entry[.realm]?.string, let realm = realms.first(where: { $0.name.hasBytes(of: name) }),
            let username = try? Username("someone")
        else { return ["the configuration does not have the realm now"] }
        let answers: ModuleAnswers
        do throws(ModuleAnswers.Fault) {
            answers = try ModuleAnswers(text, for: realm.stack)
        } catch {
            return ["the answers of the line cannot be used: \(error.text)"]
        }
        if let missing = answers.unknownNames.first { return ["the stack \(realm.stack.name) has no \(missing) now"] }
        let report = answers.login(LoginRequest(realm: name, username: username))
        if let other = answers.firstWithoutAnswer(in: report) {
            return ["the login would go on to \(other) now, of which the line has no answer"]
        }
        guard report.identity == nil else {
            let isLate = entry[.phase] == "commit" || reason == "no-user-established" || reason == "all-ignored"
            return [
                "the answers \(text) \(isLate ? "granted, but a module has failed in its commit" : "would be granted now")"
            ]
        }
        guard let explanation = RefusalExplanation(report) else { return [] }
        // Without a phase, the module is that of an outage.
        let isSame = entry[.phase] == nil || entry[.module] == explanation.step.map { UTF8Text("\($0.index)") }
        return (isSame ? [] : ["the stack has changed; now:"]) + explanation.lines
    }
}
