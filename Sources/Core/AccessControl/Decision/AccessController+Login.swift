// SPDX-License-Identifier: Apache-2.0

package import RealmKit

extension AccessController {
    /// A login that a request needs.
    package struct Login: Sendable {
        /// The credentials of one scheme.
        enum Method: Sendable {
            case certificate(ClientCertificate)
            case password(BasicScheme.Credentials)
        }

        struct Attempt: Sendable {
            let method: Method
            let key: CredentialCache.Key?
        }

        /// The attempts in the order of the rule's schemes; at least one.
        let attempts: [Attempt]
        /// The certificate of the connection, which modules may request together with a password.
        let certificate: ClientCertificate?
        let address: String?
        package let compiled: ProtectionRules.CompiledRule
    }

    /// A decision after a login.
    package struct CompletedLogin: Sendable {
        package var result: AccessResult
        /// The report of the attempt that decided; nil if no module was called.
        package var report: LoginReport?
        /// The reason why the certificate was rejected, for the log.
        package var certificateFault: LoginFault?
    }

    /// Returns whether ``complete(_:)`` may begin on an event loop: it then waits only for the throttle, because
    /// all modules of the realms are immediate.
    ///
    /// A login with a certificate or in many realms takes too long.
    package func rarelyWaits(_ login: Login) -> Bool {
        let realms = login.compiled.rule.realms
        guard login.attempts.count == 1, case .password = login.attempts[0].method, realms.count <= 8 else {
            return false
        }
        return isImmediate(realms)
    }

    /// Logs the user in and decides about the request.
    ///
    /// The schemes are tried in the order of the rule, and for each scheme the realms in their order: if the
    /// certificate is rejected, the password is checked.
    package func complete(_ login: Login) async -> CompletedLogin {
        var isUnavailable = false
        var wasRejected = false
        var last = CompletedLogin(result: AccessResult(challenge(of: login.compiled.rule), by: login.compiled))
        for attempt in login.attempts {
            let outcome: MultiRealmLoginReport.Outcome
            switch attempt.method {
            case .certificate(let certificate):
                switch await loginByCertificate(certificate, of: login) {
                case .success(let result): outcome = result
                case .failure(let fault):
                    last.certificateFault = fault
                    isUnavailable = isUnavailable || fault.kind == .unavailable
                    continue
                }
            case .password(let credentials):
                if let key = attempt.key, let entry = credentialCache.entry(for: key, at: clock.now) {
                    last.result.decision = decision(about: entry.user, isAllowed: entry.isAllowed(by: login.compiled))
                    (last.result.authentication, last.report) = (.credentials(entry), nil)
                    return last
                }
                guard let result = await loginByPassword(credentials, of: login) else {
                    wasRejected = true
                    continue
                }
                outcome = result
            }
            switch outcome {
            case .accepted(let identity, let report):
                remember(identity, for: attempt.key, certificate: login.certificate, report: report)
                let user = SignedInUser(identity)
                last.result.decision = decision(about: user, isAllowed: login.compiled.allows(user))
                last.report = report
                return last
            case .rejected(let report):
                last.report = report
                // After a rejected certificate the client may use the other schemes, as without a certificate.
                if case .password = attempt.method { wasRejected = true }
            case .unavailable(let report):
                last.report = report
                isUnavailable = true
            }
        }
        last.result.decision =
            isUnavailable ? .unavailable : challenge(of: login.compiled.rule, wasRejected: wasRejected)
        return last
    }

    private func loginByPassword(
        _ credentials: BasicScheme.Credentials,
        of login: Login
    ) async -> MultiRealmLoginReport.Outcome? {
        guard let (username, password) = credentials.separated() else { return nil }
        return await authenticator.outcome(
            as: username,
            inFirstOf: login.compiled.rule.realms,
            whenUnavailable: login.compiled.rule.whenUnavailable,
            address: login.address,
            asking: PreparedConversation(
                name: username.text,
                password: password,
                certificate: login.certificate?.der(at: wallClock.seconds)
            )
        )
    }

    /// Logs in the user of a certificate in the first realm that accepts the certificate.
    ///
    /// Each realm reads the user name in its own way. If a realm does not accept the certificate, no login begins
    /// there, so nothing is counted against any user. With `whenUnavailable: .stop`, the realms after a realm that met
    /// an outage are not used.
    private func loginByCertificate(
        _ certificate: ClientCertificate,
        of login: Login
    ) async -> Result<MultiRealmLoginReport.Outcome, LoginFault> {
        guard let der = certificate.der(at: wallClock.seconds) else {
            return .failure(LoginFault(.credentialExpired, log: "the certificate is not valid at present"))
        }
        var fault = LoginFault(.missingCredential, log: "no realm takes the user name from a certificate")
        var last: MultiRealmLoginReport.Outcome?
        let whenUnavailable = login.compiled.rule.whenUnavailable
        for name in login.compiled.rule.realms {
            guard let realm = authenticator.realms[name], realm.stack.namesUsersByCertificate else { continue }
            let username: Username
            do throws(LoginFault) {
                username = try await realm.stack.username(ofCertificate: der)
            } catch {
                if whenUnavailable == .stop, Outcome.failure(error.kind).isOutage { return .failure(error) }
                if fault.kind != .unavailable { fault = error }
                continue
            }
            let outcome = await authenticator.outcome(
                as: username,
                inFirstOf: [name],
                whenUnavailable: whenUnavailable,
                address: login.address,
                asking: PreparedConversation(name: username.text, certificate: der)
            )
            switch outcome {
            case .accepted: return .success(outcome)
            case .unavailable:
                if whenUnavailable == .stop { return .success(outcome) }
                last = outcome
            case .rejected(let report):
                if whenUnavailable == .stop, report?.metOutage == true { return .success(outcome) }
                if case .unavailable = last { break } else { last = outcome }
            }
        }
        // A realm that was unavailable may hold the user whom another realm has refused.
        guard let last, fault.kind != .unavailable else { return .failure(fault) }
        return .success(last)
    }

    /// Caches accepted credentials, to which the user has added no answer; does nothing without a key.
    package func remember(
        _ identity: AuthenticatedIdentity,
        for key: CredentialCache.Key?,
        certificate: ClientCertificate? = nil,
        report: LoginReport
    ) {
        guard let key, let realm = authenticator.realms[identity.realm] else { return }
        let client = CredentialCache.Client(
            // The throttle counts failures by the name as typed, so the account has this name too.
            account: realm.account(of: report.username),
            username: identity.username,
            network: report.peer.map { ClientNetwork($0) }
        )
        var limit = UInt64.max
        if let certificate {
            let seconds = UInt64(max(0, certificate.notAfter - wallClock.seconds))
            let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
            limit = overflow ? .max : product
        }
        credentialCache.add(identity, for: key, of: client, at: clock.now, atMost: limit)
    }
}

extension Authenticator {
    /// Returns the outcome of a login in realms of the configuration; unavailable if one of them does not exist, which the
    /// configuration rules out for those of rules, pages and APIs.
    package func outcome(
        as username: Username,
        inFirstOf realms: [String],
        whenUnavailable: WhenUnavailable,
        service: String = "https",
        address: String?,
        asking conversation: any Conversation
    ) async -> MultiRealmLoginReport.Outcome {
        let report = try? await login(
            as: username,
            inFirstOf: realms,
            whenUnavailable: whenUnavailable,
            service: service,
            peer: address,
            asking: conversation
        )
        return report?.outcome ?? .unavailable(nil)
    }
}
