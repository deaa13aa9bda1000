// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import SignIn

/// An entry of the log of Gatehouse, whose texts come from clients, and must be escaped before they are shown.
struct LogEntry: Sendable, Hashable {
    enum Kind: String, Sendable, Hashable {
        /// A request: a line of the access log.
        case request
        /// A sign-in on the page or through the session API that was refused.
        case signInRefused = "sign-in-refused"
        /// A login that was refused for a program that uses the realm API.
        case checkRefused = "check-refused"
        case sessionBegun = "session-begun"
        case sessionEnded = "session-ended"
        /// A session or the code of a hand-over that was presented in the wrong place.
        case presentedElsewhere = "presented-elsewhere"
        case locked
        case other
    }

    var time: LogTime
    /// The level, such as `warning`; empty for `info`.
    var level = ""
    var kind: Kind
    private var fields: [LogField: UTF8Text] = [:]
    var method: UTF8Text?
    /// The path; nil if the request had an ambiguous path.
    var path: UTF8Text?
    var status: Int?
    /// The code of the reason why a login was refused, such as `wrong-credentials`.
    var reason: UTF8Text?
    /// The text of a fault, such as the reason why a back end is unavailable.
    var fault: UTF8Text?
    /// True for the second check of a proxy, which fetches the page for a check that was refused.
    var isPage = false
    /// The further words of the line.
    var remarks: [UTF8Text] = []
    /// The text of a line of the kind ``Kind/other``.
    var text: UTF8Text?

    init(_ kind: Kind, at time: LogTime) { (self.kind, self.time) = (kind, time) }

    subscript(field: LogField) -> UTF8Text? {
        get { fields[field] }
        set { fields[field] = newValue }
    }

    /// True if a login was refused, or if the user was not allowed.
    ///
    /// A request without credentials that gets 401, and a page that does not exist, are not failures. The page for a
    /// refused check is no second failure.
    var isFailure: Bool {
        switch kind {
        case .signInRefused, .checkRefused, .presentedElsewhere: return true
        case .sessionBegun, .sessionEnded, .locked, .other: return false
        case .request where isPage: return false
        case .request: break
        }
        if reason != nil { return true }
        guard let status, status >= 400, status != 404 else { return false }
        return status != 401 || self[.user] != nil
    }

    /// The entry as JSON for programs, one object on a line; a key without a value is left out.
    var json: JSONValue {
        func text(_ value: UTF8Text?) -> JSONValue? { (value?.string).map(JSONValue.text) }
        return [
            "time": .text(time.description), "kind": .text(kind.rawValue),
            "level": level.isEmpty ? nil : .text(level), "user": text(self[.user]), "realm": text(self[.realm]),
            "address": text(self[.address]), "method": text(method), "path": text(path),
            "status": status.map(JSONValue.number), "reason": text(reason),
            "module": (self[.module]?.string).flatMap(Int.init).map(JSONValue.number),
            "explanation": explanation.map(JSONValue.text), "fault": text(fault), "rule": text(self[.rule]),
            "deniedBy": text(self[.deniedBy]), "needs": text(self[.needs]), "has": text(self[.has]),
            "original": text(self[.original]), "host": text(self[.host]), "session": text(self[.session]),
            "cause": text(self[.cause]), "text": text(self.text), "failed": .boolean(isFailure),
            "page": isPage ? .boolean(true) : nil,
            "remarks": remarks.isEmpty ? nil : .texts(remarks.map(\.string)),
        ]
    }
}
