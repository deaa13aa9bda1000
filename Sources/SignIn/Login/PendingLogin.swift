// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// A login that has begun with a user name and a password, and may wait for the user's answer to a question.
struct PendingLogin<Outcome: Sendable>: Sendable {
    /// The time of the beginning: the login may not have seen the changes after it.
    struct Start: Sendable {
        /// The revocation epoch of the sessions.
        let epoch: RevocationEpoch
        /// The number of reloads of the configuration before it.
        let generation: Int
    }

    /// The callbacks that the user has to answer.
    struct Question: Sendable {
        let callbacks: [Callback]
        let number: Int
    }

    /// The running login.
    let interactive: InteractiveLogin<Outcome>
    /// The user name of the account, as it was typed.
    let account: Username
    /// The network that the login came from.
    let source: ClientNetwork
    /// The digest of the browser's token.
    let browser: Digest
    /// The target to return to after the sign-in.
    let target: String?
    let start: Start
    /// The open question; nil before the first one.
    var question: Question?
}
