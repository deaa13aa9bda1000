// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

extension LogEntry {
    /// The entry as JSON for programs, one object on a line; a key without a value is left out.
    func json(why: [String]? = nil) -> JSONValue {
        func text(_ value: UTF8Text?) -> JSONValue? { (value?.string).map(JSONValue.text) }
        return [
            "time": .text(time.description), "kind": .text(kind.rawValue),
            "level": level.isEmpty ? nil : .text(level), "user": text(self[.user]), "realm": text(self[.realm]),
            "address": text(self[.address]), "method": text(method), "path": text(path),
            "status": status.map(JSONValue.number), "reason": text(reason),
            "module": (self[.module]?.string).flatMap(Int.init).map(JSONValue.number),
            "answers": text(self[.answers]), "explanation": explanation.map(JSONValue.text), "fault": text(fault),
            "rule": text(self[.rule]),
            "deniedBy": text(self[.deniedBy]), "needs": text(self[.needs]), "has": text(self[.has]),
            "original": text(self[.original]), "host": text(self[.host]), "session": text(self[.session]),
            "cause": text(self[.cause]), "text": text(self.text), "failed": .boolean(isFailure),
            "page": isPage ? .boolean(true) : nil,
            "why": why.flatMap { $0.isEmpty ? nil : .texts($0) },
            "remarks": remarks.isEmpty ? nil : .texts(remarks.map(\.string)),
        ]
    }

    /// The explanation of a failure for an administrator; nil if the entry is not a failure.
    var explanation: String? {
        guard isFailure else { return nil }
        if let reason, let text = RefusalCode.explanations[reason] { return text }
        if kind == .presentedElsewhere { return "a cookie or a code was copied to another host or browser" }
        switch status {
        case 400: return "the request was malformed or ambiguous"
        case 401: return "the user has to sign in"
        case 403 where self[.rule] == "none": return "no rule matches the request"
        case 403 where self[.deniedBy] == "nobody": return "the rule denies all requests"
        case 403 where self[.deniedBy] == "networks": return "the rule does not allow the address of the client"
        // A line of an earlier version.
        case 403 where self[.user] == nil: return "the rule denies all requests, or the address of the client"
        case 403: return "the user does not meet the rule" + unmet
        case 405: return "the rules for the path are for other methods"
        case 421: return "the connection was made for another host"
        case 429: return "the client has sent too many requests"
        case 503: return "a realm was unavailable, or too many requests were waiting"
        default: return "the request was refused"
        }
    }

    /// The requirements that the user does not meet, and the user's groups; empty in a line of an earlier version.
    private var unmet: String {
        guard let needs = self[.needs] else { return "" }
        let groups = self[.has].map { $0.isEmpty ? ", has no group" : ", has \(Self.plain($0))" } ?? ""
        return ": needs \(Self.plain(needs))\(groups)"
    }

    /// The entry as a line in ASCII.
    ///
    /// Texts of clients are in quotes and escaped, as in the log, so that they cannot forge a line or control a terminal.
    var line: String {
        let user = self[.user].map { "\(Self.quoted($0))@\(Self.quoted(self[.realm] ?? "-"))" } ?? "-"
        let address = self[.address].map(Self.plain) ?? "-"
        return "\(time) \(level)\(level.isEmpty ? "" : " ")\(user) \(address) \(event)"
    }

    private var event: String {
        switch kind {
        case .request:
            let target = path.map(Self.quoted) ?? "(ambiguous path)"
            let request = self[.original].map { "for \(Self.quoted($0))" } ?? "\(Self.quoted(method ?? "-")) \(target)"
            return "\(request) \(status ?? 0)\(details)"
        case .signInRefused: return "sign-in refused\(details)"
        case .checkRefused: return "login refused for a program\(details)"
        case .sessionBegun: return "session \(name) begun"
        case .sessionEnded: return "session \(name) ended: \(self[.cause].map(Self.plain) ?? "-")"
        case .presentedElsewhere: return "session \(name)\(details)"
        case .locked: return "locked: too many failed logins"
        case .other: return text.map(Self.plain) ?? ""
        }
    }

    private var name: String {
        let parts = [self[.session].map(Self.plain), self[.host].map { "at \(Self.plain($0))" }]
        return parts.compactMap(\.self).joined(separator: " ")
    }

    /// The explanation of a failure, with the code, the fault and the rule.
    private var details: String {
        var parts: [String] = []
        if let reason {
            parts.append("\(Self.plain(reason))\(self[.module].map { ", module \(Self.plain($0))" } ?? "")")
        }
        if isPage { parts.append("page for the refused check") }
        if let fault { parts.append(Self.quoted(fault)) }
        if !remarks.isEmpty { parts.append(remarks.map(Self.plain).joined(separator: " ")) }
        let code = parts.isEmpty ? "" : " (\(parts.joined(separator: "; ")))"
        let place = self[.rule].map { $0 == "none" ? "" : "; rule \(Self.plain($0))" } ?? ""
        guard let explanation else { return code + place }
        return ": \(explanation)\(code)\(place)"
    }

    static func quoted(_ text: UTF8Text) -> String { "\"\(plain(text))\"" }

    /// Returns a text without quotes, with all characters but visible ASCII escaped.
    static func plain(_ text: UTF8Text) -> String {
        var result = ""
        for scalar in text.string.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case " "..."~": result.unicodeScalars.append(scalar)
            default: result += "\\u{\(String(scalar.value, radix: 16))}"
            }
        }
        return result
    }
}

/// The codes with which the log gives the reason of a refused login.
enum RefusalCode {
    static let explanations: [UTF8Text: String] = [
        "wrong-credentials": "the password, code or certificate is wrong",
        "unknown-user": "there is no such user",
        "missing-credential": "a password, code or certificate is missing",
        "unusable-credential": "the password cannot be checked",
        "locked": "too many failed logins",
        "disabled": "the account is disabled",
        "account-expired": "the account has expired",
        "credential-expired": "the password has expired or must be changed",
        "permission-denied": "the realm does not allow the user to sign in",
        "unavailable": "the realm could not be reached",
        "overloaded": "too many logins were waiting",
        "internal-error": "a login module has failed",
        "all-ignored": "no login module has decided",
        "empty-stack": "the login entry has no modules",
        "no-user-established": "no login module has named a user",
    ]
}
