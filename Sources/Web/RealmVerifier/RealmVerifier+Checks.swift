// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import OpenSSLKit
public import RealmKit
internal import Sessions
internal import Synchronization

extension RealmVerifier {
    /// The maximum length of a password, in bytes; a longer one is refused.
    public static let maximumPasswordBytes = 65_536

    /// Checks a name and a password.
    ///
    /// - Parameters:
    ///   - name: The user name, as the client has sent it.
    ///   - password: The password.
    ///   - realms: The names of the realms that may accept the user, in order; nil for those of the `sign-in` settings, or else the
    ///     default realm. An unknown name makes the result `unavailable`, and is logged.
    ///   - whenUnavailable: Whether the next realm is used if a realm is unavailable; nil for the `sign-in` settings, or else
    ///     `stop`, because the next realm may have another person of the same name.
    ///   - service: The service that the user signs in to, for modules and the log: 1 to 64 letters, digits, `-`, `_` and `.`. It must
    ///     not come from a client.
    ///   - peer: The client's address: `192.0.2.1`, `192.0.2.1:5555`, `2001:db8::1`, `[2001:db8::1]:5555`, or as gRPC
    ///     writes it; nil, `unix:...` and `in-process:...` if there is none. The throttle counts the failures of each
    ///     network, whatever the port. With another text, the result is `unavailable`, and logged.
    ///   - caching: True if accepted credentials are cached for the time of `credential-cache` (30 seconds by default), so that a
    ///     client that sends them with every request costs no hash each time. Use false if passwords are valid only once.
    /// - Returns: The result; every refusal is the same, whatever its reason.
    public func verify(
        _ name: String,
        password: Secret,
        in realms: [String]? = nil,
        whenUnavailable: WhenUnavailable? = nil,
        service: String = "login",
        peer: String? = nil,
        caching: Bool = true
    ) async -> Verification {
        let current = current.withLock { $0 }
        let (names, log) = (realms ?? current.realms, VerifierLog(logger))
        let client = Peer(peer)
        if let fault = current.fault(of: realms, service: service) ?? (client == nil ? Peer.fault : nil) {
            log.logFault(fault)
            tracer?.record(.unavailable, in: nil)
            return .unavailable
        }
        let address = client?.address
        guard let username = try? Username(name), password.withBytes({ $0.count <= Self.maximumPasswordBytes }) else {
            log.log("refused: not a user name, or too long", name, realm: names[0], service: service, peer: address)
            tracer?.record(.refused, in: names[0])
            return .refused
        }
        let login = ProgramLogin(
            username: username,
            password: password,
            realms: names,
            whenUnavailable: whenUnavailable ?? current.whenUnavailable,
            service: service,
            address: address
        )
        let key = caching ? current.accessController.cacheKey(of: login) : nil
        if let key, let user = current.accessController.cachedUser(for: key) {
            tracer?.record(.accepted(user), in: user.realm)
            return .accepted(user)
        }
        let isImmediate = current.isImmediate(realms)
        guard let tracer else {
            return await check(login, isImmediate: isImmediate, key: key, by: current, span: nil)
        }
        return await tracer.record { span in
            span.setRealm(names[0])
            return await check(login, isImmediate: isImmediate, key: key, by: current, span: span)
        }
    }

    private func check(
        _ login: ProgramLogin,
        isImmediate: Bool,
        key: CredentialCache.Key?,
        by current: CurrentRealms,
        span: LoginSpan?
    ) async -> Verification {
        guard isImmediate else { return await checkAndAsk(login, key: key, by: current, span: span) }
        let conversation = PreparedConversation(name: login.username.text, password: login.password)
        let outcome = await current.accessController.complete(login, asking: conversation)
        VerifierLog(logger).log(outcome, of: login)
        return Self.result(outcome, key: key, by: current, span: span)
    }

    /// Checks a name and a password in realms that may ask further questions.
    private func checkAndAsk(
        _ login: ProgramLogin,
        key: CredentialCache.Key?,
        by current: CurrentRealms,
        span: LoginSpan?
    ) async -> Verification {
        // Earlier changes of users are applied now. Otherwise they would count as changes during the login.
        for realm in login.realms { _ = await refresher.refresh(realm) }
        let epoch = sessions.revocationEpoch()
        let interactive = InteractiveLogin(
            name: login.username.text,
            password: login.password,
            numbers: numbers
        ) { [logger] conversation in
            let outcome = await current.accessController.complete(login, asking: conversation)
            // Also if nobody waits for the result any more.
            VerifierLog(logger).log(outcome, of: login)
            return outcome
        }
        if case .finished(let outcome) = await interactive.next() {
            return Self.result(outcome, key: key, by: current, span: span)
        }
        guard let id = try? Digest.sha256(RandomBytes.make(32)) else { return .unavailable }
        // Clients without an address do not share the places of one network: each could end the logins of the others.
        let owner = ClientNetwork(login.address ?? "user \(login.username.text)")
        openLogins.put(interactive, for: id, of: owner)
        let before = current.accessController.authenticator
        return await OpenLogin(interactive, id, in: openLogins, tracer: tracer) { [weak self] outcome in
            await self?.result(outcome, since: epoch, of: before) ?? .unavailable
        }.next(span)
    }

    /// Returns the result of a login without questions.
    private static func result(
        _ outcome: MultiRealmLoginReport.Outcome,
        key: CredentialCache.Key?,
        by current: CurrentRealms,
        span: LoginSpan?
    ) -> Verification {
        span?.add(outcome)
        switch outcome {
        case .accepted(let identity, let report):
            current.accessController.remember(identity, for: key, report: report)
            return .accepted(SignedInUser(identity))
        case .rejected: return .refused
        case .unavailable: return .unavailable
        }
    }

    /// Returns the result of a login in which the user answered questions.
    ///
    /// It took as long as the user wanted, so the user may have changed, or a reload the realm. It is not cached, because the
    /// credentials alone were not enough.
    private func result(
        _ outcome: MultiRealmLoginReport.Outcome,
        since epoch: RevocationEpoch,
        of before: Authenticator
    ) async -> Verification {
        guard case .accepted(let identity, _) = outcome else {
            if case .rejected = outcome { return .refused }
            return .unavailable
        }
        let controller = current.withLock { $0.accessController }
        switch await controller.status(of: identity, since: epoch, of: before, refresher: refresher) {
        case .unchanged: return .accepted(SignedInUser(identity))
        case .changed:
            VerifierLog(logger).logChange(of: identity)
            return .refused
        case .unknown: return .unavailable
        }
    }
}
