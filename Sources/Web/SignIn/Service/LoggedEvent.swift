// SPDX-License-Identifier: Apache-2.0

internal import Logging

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
    case user, realm, address, session, host, cause, rule, needs, has, module, phase
    case deniedBy = "denied-by"
    /// The request that a proxy has asked about.
    case original = "for"
    /// The account or the network that was locked.
    case locked

    /// True if the value is written in quotes, and not trusted without them; false if it has none, and nil if either occurs.
    package var isQuoted: Bool? {
        switch self {
        case .user, .realm, .needs, .has, .original: true
        case .deniedBy: false
        case .address, .session, .host, .cause, .rule, .module, .phase, .locked: nil
        }
    }

    /// Returns a space, and the field with a value.
    func text(_ value: String) -> String { " \(rawValue)=\(written(value))" }

    private func written(_ value: String) -> String { isQuoted == true ? LogText.quoted(value) : value }

    static func metadata(_ fields: [LogField: String]) -> Logger.Metadata {
        Logger.Metadata(uniqueKeysWithValues: fields.map { ($0.rawValue, "\($0.written($1))") })
    }
}
