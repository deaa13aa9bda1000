// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// An entry of the log of Gatehouse, whose texts come from clients, and must be escaped before they are shown.
package struct LogEntry: Sendable, Hashable {
    package enum Kind: String, Sendable, Hashable {
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

    package var time: LogTime
    /// The level, such as `warning`; empty for `info`.
    package var level = ""
    package var kind: Kind
    /// The name of the user, as it was sent.
    package var user: UTF8Text?
    package var realm: UTF8Text?
    package var address: UTF8Text?
    package var method: UTF8Text?
    /// The path; nil if the request had an ambiguous path.
    package var path: UTF8Text?
    package var status: Int?
    /// The code of the reason why a login was refused, such as `wrong-credentials`.
    package var reason: UTF8Text?
    /// The position in the stack of the module that has refused the login.
    package var module: Int?
    /// The text of a fault, such as the reason why a back end is unavailable.
    package var fault: UTF8Text?
    /// The rule that decided, such as `realms.conf:8:9 /staff`; `none` if no rule matched.
    package var rule: UTF8Text?
    /// The statement of the rule that denies the request of any user: `nobody` or `networks`.
    package var deniedBy: UTF8Text?
    /// The requirements of the rule that the user does not meet, such as `group admins`.
    package var needs: UTF8Text?
    /// The groups of a user who does not meet the rule; empty for a user without groups.
    package var has: UTF8Text?
    /// True for the second check of a proxy, which fetches the page for a check that was refused.
    package var isPage = false
    /// The method, host and path of the request that a proxy has asked about.
    package var original: UTF8Text?
    /// The host and the ID of a session, and the cause of its end.
    package var host: UTF8Text?
    package var session: UTF8Text?
    package var cause: UTF8Text?
    /// The further words of the line.
    package var remarks: [UTF8Text] = []
    /// The text of a line of the kind ``Kind/other``.
    package var text: UTF8Text?

    package init(_ kind: Kind, at time: LogTime) { (self.kind, self.time) = (kind, time) }

    /// True if a login was refused, or if the user was not allowed.
    ///
    /// A request without credentials that gets 401, and a page that does not exist, are not failures. The page for a
    /// refused check is no second failure.
    package var isFailure: Bool {
        switch kind {
        case .signInRefused, .checkRefused, .presentedElsewhere: return true
        case .sessionBegun, .sessionEnded, .locked, .other: return false
        case .request where isPage: return false
        case .request: break
        }
        if reason != nil { return true }
        guard let status, status >= 400, status != 404 else { return false }
        return status != 401 || user != nil
    }
}
