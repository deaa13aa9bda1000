// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// A login that has begun and may wait for the user's answer to a question.
struct PendingLogin<Outcome: Sendable>: Sendable {
    /// The state of users and configuration when the login began.
    ///
    /// The result of the login may not take later changes into account.
    struct Start: Sendable {
        /// The revocation epoch of the sessions.
        let epoch: RevocationEpoch
        /// The number of reloads of the configuration before the login.
        let generation: Int
        /// The realms of that configuration.
        let authenticator: Authenticator
        /// The time at which the client certificate expires, in seconds since 1970; nil if there is no certificate.
        var certificateEnd: Int?
    }

    /// The callbacks that the user has to answer.
    struct Question: Sendable {
        let callbacks: [Callback]
        let number: Int
        /// The messages before the question, which need no answer of the user.
        var messages: [String] = []

        /// True if a one-time code is requested.
        var hasCode: Bool {
            callbacks.contains { if case .oneTimeCode = $0 { true } else { false } }
        }
    }

    /// The running login.
    let interactive: InteractiveLogin<Outcome>
    /// The user name as typed.
    let account: Username
    /// The network of the client.
    let source: ClientNetwork
    /// The digest that identifies the browser; see ``BrowserBinding``.
    let browser: Digest
    /// The place that the browser goes to after the sign-in.
    let destination: Destination
    /// The rule of the destination; nil if there is none.
    var rule: ProtectRule?
    let start: Start
    /// Begins the same login again; nil if it may not be repeated any more.
    var again: (@Sendable () -> PendingLogin)?
    /// The open question; nil before the first question.
    var question: Question?
    /// True if this login repeats a login whose one-time code was rejected.
    var hasRejectedCode = false

    /// Returns a new login with the same name and password if this login has failed after a one-time code.
    ///
    /// The user can then correct the code on the same page. The throttle counts each of these logins.
    ///
    /// - Returns: The login; nil if the last question was not for a code, or after the third code.
    func repetition() -> PendingLogin? {
        guard question?.hasCode == true, var login = again?() else { return nil }
        login.hasRejectedCode = true
        return login
    }
}
