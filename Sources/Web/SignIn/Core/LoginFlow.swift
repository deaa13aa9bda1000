// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The steps of a login that can take several requests: begin the login, wait for answers of the user, and create a
/// session.
struct LoginFlow: SignInComponent {
    let site: SignInSite

    /// Nil if the text is not a valid user name.
    static func username(_ text: UTF8Text) -> Username? { try? Username(text.string) }

    /// The user name in a form, without white space at the ends: the keyboards of phones add a blank after a completed
    /// name, and no user name begins or ends with white space.
    static func username(typed text: UTF8Text) -> Username? {
        let scalars = text.string.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return nil }
        return username(UTF8Text(String(scalars[first...last])))
    }

    typealias Login = PendingLogin<MultiRealmLoginReport.Outcome>

    /// Begins a login in the first realm that accepts the user.
    func begin(
        as username: Username,
        password: Secret,
        in realms: [String],
        whenUnavailable: WhenUnavailable,
        destination: Destination,
        rule: ProtectRule? = nil,
        browser: BrowserBinding,
        request: WebRequest
    ) async -> Login {
        // Earlier changes of users are applied now. Otherwise they would count as changes during the login.
        for realm in realms { _ = await settleChanges(of: realm) }
        let client = request.client
        let generation = site.generation
        return Self.login(remaining: Self.codesPerPassword - 1) { [authenticator, state, sessions] in
            // The login must not begin before its epoch is read.
            let start = Login.Start(
                epoch: sessions.revocationEpoch(),
                generation: generation,
                authenticator: authenticator,
                certificateEnd: client.certificate?.notAfter
            )
            let interactive = InteractiveLogin(
                name: username.text,
                password: password,
                certificate: client.certificate?.der(at: state.wallClock.seconds),
                numbers: state.questionNumbers
            ) { conversation in
                await authenticator.loginOnWeb(
                    as: username,
                    inFirstOf: realms,
                    whenUnavailable: whenUnavailable,
                    address: client.address,
                    asking: conversation
                )
            }
            return Login(
                interactive: interactive,
                account: username,
                source: ClientNetwork(client.address ?? ""),
                browser: browser.digest,
                destination: destination,
                rule: rule,
                start: start,
                again: nil
            )
        }
    }

    /// The maximum number of one-time codes that a user can enter without entering the password again.
    private static var codesPerPassword: Int { 3 }

    /// Returns a login that can be repeated a number of times.
    private static func login(remaining: Int, make: @escaping @Sendable () -> Login) -> Login {
        var login = make()
        if remaining > 0 { login.again = { self.login(remaining: remaining - 1, make: make) } }
        return login
    }

    /// The state of a login after its beginning or an answer.
    enum Progress {
        /// The login waits for the answer to a question.
        case question(Login.Question)
        /// The login has created a session.
        case session(Session, OpaqueToken, LoginReport)
        /// The login has failed, with the notice for the sign-in page.
        case failed(Notice, LoginReport?)
        /// The login was accepted, but the end of an earlier session of the browser is not stored.
        case endNotStored(LoginReport)
    }

    /// Waits until a login has a question, and then is pending, or has ended.
    func advance(_ login: Login, for request: WebRequest) async -> Progress {
        let outcome: MultiRealmLoginReport.Outcome
        switch await login.interactive.next() {
        case .questions(let callbacks, let number):
            let messages = login.interactive.messages
            let question = Login.Question(callbacks: callbacks, number: number, messages: messages)
            var waiting = login
            waiting.question = question
            // If the browser has begun another login in the meantime, this login must not replace it.
            if login.question == nil { state.pendingLogins.put(waiting) } else { state.pendingLogins.putBack(waiting) }
            return .question(question)
        case .finished(let finished): outcome = finished
        }
        switch outcome {
        case .rejected(let report):
            if let report { state.log.logRejection(report, for: login.rule) }
            return .failed(.rejected, report)
        case .unavailable(let report):
            if let report { state.log.logRejection(report, for: login.rule) }
            return .failed(.unavailable, report)
        case .accepted(let identity, let report):
            let (progress, hasBegun) = await createSession(identity, of: login, report: report, request: request)
            // If a session has begun, its end logs the modules out.
            if !hasBegun { state.logouts.add(identity) }
            return progress
        }
    }

    /// Creates the session of an accepted login and ends the earlier sessions of the browser; `hasBegun` is also true
    /// for a session that has already ended.
    private func createSession(
        _ identity: AuthenticatedIdentity,
        of login: Login,
        report: LoginReport,
        request: WebRequest
    ) async -> (Progress, hasBegun: Bool) {
        guard let realm = authenticator.realms[identity.realm], let host = request.host else {
            return (.failed(.unavailable, report), false)
        }
        let validator = SessionValidator(authenticator: authenticator)
        let stamp: SecurityStamp
        switch await validator.state(of: identity.username, in: realm) {
        case .present(let present): stamp = present
        case .gone: return (.failed(.changed, report), false)
        case .unknown: return (.failed(.unavailable, report), false)
        }
        // The user may have changed after the login and before the stamp was read. All changes up to now are applied
        // here, so that the session is rejected below. A later change gives another stamp, which ends the session.
        guard await settleChanges(of: identity.realm) else { return (.failed(.unavailable, report), false) }
        // They may belong to another user (CVE-2026-34454). A refused login does not end them: a wrong password must
        // not sign the user out.
        guard await endEarlierSessions(request) else { return (.endNotStored(report), false) }
        let earlier = state.sessionsByBrowser.of(login.browser)
        do throws(SessionFault) {
            let (session, token) = try await sessions.begin(
                identity,
                at: host,
                from: request.sessionClient,
                stamp: stamp,
                // A session that needed a certificate must not outlive it.
                until: login.interactive.hasGivenCertificate ? login.start.certificateEnd : nil,
                since: login.start.epoch,
                replacing: earlier
            )
            let start = login.start
            guard state.isUnchanged(identity.realm, since: start.generation, of: start.authenticator) else {
                // A reload during the login has changed the realm.
                _ = await end(session, cause: .userChanged)
                return (.failed(.unavailable, report), true)
            }
            if let replaced = state.sessionsByBrowser.put(session, for: login.browser), replaced !== earlier {
                // The browser has signed in twice at the same time, and keeps the cookie of one session only.
                _ = await end(replaced, cause: .replaced)
            }
            state.log.logBeginning(session)
            return (.session(session, token, report), true)
        } catch {
            switch error.code {
            case .changedMeanwhile, .ended: return (.failed(.changed, report), false)
            case .full, .tooManyStreams: return (.failed(.full, report), false)
            case .closing, .unavailable: return (.failed(.unavailable, report), false)
            }
        }
    }

    /// The result of ``answer(_:number:secret:)``.
    enum AnswerResult {
        /// The browser has no pending login.
        case noPendingLogin
        /// The login waits for the answer to another question.
        case anotherQuestion
        /// The login continues.
        case answered(Login)
    }

    /// Passes the answers of the user, by the index of their callback, to the pending login.
    ///
    /// It is first removed from the pending logins, so that two requests cannot answer the same question.
    func answer(_ browser: BrowserBinding, number: Int?, secret: (Int) -> Secret?) -> AnswerResult {
        let login: Login
        switch state.pendingLogins.take(browser.digest, if: { $0.question?.number == number }) {
        case .none: return .noPendingLogin
        case .another: return .anotherQuestion
        case .taken(let taken): login = taken
        }
        guard let question = login.question else { return .noPendingLogin }
        let answers: [Answer] = question.callbacks.enumerated().map { index, callback in
            switch callback {
            case .name: secret(index)?.utf8Text.map { Answer.name($0.string) } ?? .none
            case .password: secret(index).map(Answer.secret) ?? .none
            case .oneTimeCode: secret(index).map { Answer.secret($0.withoutSpaces) } ?? .none
            case .certificate, .message: .none
            }
        }
        guard login.interactive.answer(answers, to: question.number) else { return .noPendingLogin }
        return .answered(login)
    }

    /// Returns the browser of a request by the cookie of the sign-in page; nil if the request has no such cookie.
    func browser(of request: WebRequest) -> BrowserBinding? {
        guard case .token(let token) = request.cookies.signIn else { return nil }
        return try? BrowserBinding(known: token, request: request)
    }
}
