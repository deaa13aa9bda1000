// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmKit
internal import Sessions

/// The steps of a login that can take several requests: begin the login, wait for answers of the user, and create a
/// session.
extension SignIn {
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

    /// Begins a login in the first realm that accepts the user.
    func begin(_ form: PendingLogin.Form) async -> PendingLogin {
        // Earlier changes of users are applied now. Otherwise they would count as changes during the login.
        for realm in form.realms { _ = await service.refresher.refresh(realm) }
        return start(form, attempt: 1)
    }

    /// Returns a new login with the same name and password if a login has failed after a one-time code, so that the
    /// user can correct it on the same page; nil after the third code.
    ///
    /// The throttle counts each of these logins.
    func repetition(of login: PendingLogin) -> PendingLogin? {
        guard login.question?.hasCode == true, login.attempt < 3 else { return nil }
        return start(login.form, attempt: login.attempt + 1)
    }

    private func start(_ form: PendingLogin.Form, attempt: Int) -> PendingLogin {
        // The login must not begin before its epoch is read.
        let epoch = sessions.revocationEpoch()
        let interactive = InteractiveLogin(
            name: form.username.text,
            password: form.password,
            certificate: form.client.certificate?.der(at: service.wallClock.seconds),
            numbers: service.questionNumbers
        ) { [authenticator] conversation in
            await authenticator.outcome(
                as: form.username,
                inFirstOf: form.realms,
                whenUnavailable: form.whenUnavailable,
                address: form.client.address,
                asking: conversation
            )
        }
        return PendingLogin(
            form: form,
            interactive: interactive,
            start: PendingLogin.Start(epoch: epoch, generation: generation, authenticator: authenticator),
            attempt: attempt
        )
    }

    enum LoginProgress {
        case question(PendingLogin.Question)
        case session(Session, OpaqueToken, LoginReport)
        /// The login has failed, with the notice for the sign-in page.
        case failed(Notice, LoginReport?)
        /// The login was accepted, but the end of an earlier session of the browser is not stored.
        case endNotStored(LoginReport)
    }

    /// Waits until a login has a question, and then is pending, or has ended.
    func advance(_ login: PendingLogin, for request: WebRequest) async -> LoginProgress {
        let outcome: MultiRealmLoginReport.Outcome
        switch await login.interactive.next() {
        case .questions(let callbacks, let number):
            let messages = login.interactive.messages
            let question = PendingLogin.Question(callbacks: callbacks, number: number, messages: messages)
            var waiting = login
            waiting.question = question
            // If the browser has begun another login in the meantime, this login must not replace it.
            service.pendingLogins.put(waiting, replacing: login.question == nil)
            return .question(question)
        case .finished(let finished): outcome = finished
        }
        switch outcome {
        case .rejected(let report):
            if let report { service.log.logRejection(report, for: login.form.rule) }
            return .failed(.rejected, report)
        case .unavailable(let report):
            if let report { service.log.logRejection(report, for: login.form.rule) }
            return .failed(.unavailable, report)
        case .accepted(let identity, let report):
            let (progress, hasBegun) = await createSession(identity, of: login, report: report, request: request)
            // If a session has begun, its end logs the modules out.
            if !hasBegun { service.logouts.add(identity) }
            return progress
        }
    }

    /// Creates the session of an accepted login and ends the earlier sessions of the browser; `hasBegun` is also true
    /// for a session that has already ended.
    private func createSession(
        _ identity: AuthenticatedIdentity,
        of login: PendingLogin,
        report: LoginReport,
        request: WebRequest
    ) async -> (LoginProgress, hasBegun: Bool) {
        guard let realm = authenticator.realms[identity.realm], let host = request.host else {
            return (.failed(.unavailable, report), false)
        }
        let stamp: SecurityStamp
        switch await SessionValidator(authenticator: authenticator).state(of: identity.username, in: realm) {
        case .present(let present): stamp = present
        case .gone: return (.failed(.changed, report), false)
        case .unknown: return (.failed(.unavailable, report), false)
        }
        // The user may have changed after the login and before the stamp was read. All changes up to now are applied
        // here, so that the session is rejected below. A later change gives another stamp, which ends the session.
        guard await service.refresher.refresh(identity.realm) else { return (.failed(.unavailable, report), false) }
        // They may belong to another user (CVE-2026-34454). A refused login does not end them: a wrong password must
        // not sign the user out.
        guard await endEarlierSessions(request) else { return (.endNotStored(report), false) }
        let (start, browser) = (login.start, login.form.browser)
        let earlier = service.sessionsByBrowser.of(browser)
        do throws(SessionFault) {
            let (session, token) = try await sessions.begin(
                identity,
                at: host,
                from: request.sessionClient,
                stamp: stamp,
                // A session that needed a certificate must not outlive it.
                until: login.interactive.hasGivenCertificate ? login.form.client.certificate?.notAfter : nil,
                since: start.epoch,
                replacing: earlier
            )
            guard service.isUnchanged(identity.realm, since: start.generation, of: start.authenticator) else {
                // A reload during the login has changed the realm.
                _ = await end([session], cause: .userChanged)
                return (.failed(.unavailable, report), true)
            }
            if let replaced = service.sessionsByBrowser.put(session, for: browser), replaced !== earlier {
                // The browser has signed in twice at the same time, and keeps the cookie of one session only.
                _ = await end([replaced], cause: .replaced)
            }
            service.log.logBeginning(session)
            return (.session(session, token, report), true)
        } catch {
            switch error.code {
            case .changedMeanwhile, .ended: return (.failed(.changed, report), false)
            case .full, .tooManyStreams: return (.failed(.full, report), false)
            case .closing, .unavailable: return (.failed(.unavailable, report), false)
            }
        }
    }

    enum AnswerResult {
        case noPendingLogin
        case anotherQuestion
        case answered(PendingLogin)
    }

    /// Passes the answers of the user, by the index of their callback, to the pending login.
    ///
    /// It is first removed from the pending logins, so that two requests cannot answer the same question.
    func answer(_ browser: BrowserBinding, number: Int?, secret: (Int) -> Secret?) -> AnswerResult {
        let login: PendingLogin
        switch service.pendingLogins.take(browser.digest, if: { $0.question?.number == number }) {
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
}
