// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// A login that has begun and may wait for the user's answer to a question.
struct PendingLogin: Sendable {
    /// The contents of the form with which the login began, and what they are for.
    struct Form: Sendable {
        /// The user name as typed.
        let username: Username
        let password: Secret
        let realms: [String]
        let whenUnavailable: WhenUnavailable
        /// The place that the browser goes to after the sign-in.
        var destination = Destination()
        var rule: ProtectRule?
        let browser: Digest
        let client: RequestClient
    }

    /// The state of users and configuration when the login began; its result may not take later changes into account.
    struct Start: Sendable {
        let epoch: RevocationEpoch
        /// The number of reloads of the configuration before the login.
        let generation: Int
        let authenticator: Authenticator
    }

    struct Question: Sendable {
        let callbacks: [Callback]
        let number: Int
        /// The messages before the question, which need no answer of the user.
        var messages: [String] = []

        var hasCode: Bool {
            callbacks.contains { if case .oneTimeCode = $0 { true } else { false } }
        }
    }

    let form: Form
    let interactive: InteractiveLogin
    let start: Start
    /// 1, and one more for each repetition after a rejected code.
    var attempt = 1
    var question: Question?

    var hasRejectedCode: Bool { attempt > 1 }
}

/// The logins that wait for an answer of the user, by the digest of the browser.
///
/// The logins of an account are not limited: other clients, who need not know the password, would cancel the login of
/// its user.
typealias PendingLogins = ExpiringTable<ClientNetwork, PendingLogin>

extension PendingLogins {
    /// A table for at least one login; the lifetime is the time for an answer, in nanoseconds.
    ///
    /// The default for a network is the number of failures that lock it: each pending login holds one of these, so the
    /// clients of a network do not cancel one another's.
    convenience init(limit: Int, perNetwork: Int = 100, lifetime: UInt64, clock: any LoginClock) {
        self.init(limit: limit, perOwner: perNetwork, lifetime: lifetime, clock: clock) { $0.interactive.cancel() }
    }

    /// Adds a login; false if it was cancelled instead, because the browser has a newer one that it must not replace.
    @discardableResult
    func put(_ login: PendingLogin, replacing: Bool = true) -> Bool {
        let network = ClientNetwork(login.form.client.address ?? "")
        return put(login, for: login.form.browser, of: network, replacing: replacing)
    }
}
