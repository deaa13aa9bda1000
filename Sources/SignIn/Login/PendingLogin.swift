// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
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
        /// The time at which the client certificate expires, in seconds since 1970; nil if there is no certificate.
        var certificateEnd: Int?
    }

    /// The callbacks that the user has to answer.
    struct Question: Sendable {
        let callbacks: [Callback]
        let number: Int
    }

    /// The running login.
    let interactive: InteractiveLogin<Outcome>
    /// The user name as typed.
    let account: Username
    /// The network of the client.
    let source: ClientNetwork
    /// The digest that identifies the browser; see ``BrowserBinding``.
    let browser: Digest
    /// The target to return to after the sign-in.
    let target: String?
    let start: Start
    /// The open question; nil before the first question.
    var question: Question?
}
