// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import Bytes
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// A login of several requests: it begins, waits for the user's answers and creates a session.
struct LoginFlow: SignInComponent {
    let site: SignInSite

    /// Returns the user name of a text; nil for one that no user can have.
    static func username(_ text: UTF8Text) -> Username? {
        do throws(BadUsername) {
            return try Username(text.string)
        } catch {
            return nil
        }
    }

    /// A login of the web: its outcome is that of the first realm that accepts.
    typealias Login = PendingLogin<MultiRealmLoginReport.Outcome>

    /// Begins a login.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - password: The password.
    ///   - realms: The names of the realms, in order.
    ///   - target: The target to return to after the sign-in.
    ///   - browser: The browser that the login belongs to.
    ///   - request: The request.
    /// - Returns: The login.
    func begin(
        as username: Username,
        password: Secret,
        in realms: [String],
        target: String?,
        browser: BrowserBinding,
        request: WebRequest
    ) async -> Login {
        // A change before the login must not count as one that the login has not seen.
        for realm in realms { _ = await settleChanges(of: realm) }
        let authenticator = authenticator
        let address = request.address
        let start = Login.Start(epoch: sessions.revocationEpoch(), generation: state.generation)
        let interactive = InteractiveLogin(name: username.text, password: password) { conversation in
            await authenticator.loginOnWeb(
                as: username,
                inFirstOf: realms,
                address: address,
                asking: conversation
            )
        }
        return Login(
            interactive: interactive,
            account: username,
            source: ClientNetwork(address ?? ""),
            browser: browser.digest,
            target: target,
            start: start
        )
    }

    /// The state of a login after its beginning or an answer.
    enum Progress {
        /// The login waits for the answer to a question.
        case question(Login.Question, messages: [String])
        /// The login has created a session.
        case session(Session, OpaqueToken, LoginReport)
        /// The login has failed; the notice is for the sign-in page.
        case failed(Notice, LoginReport?)
    }

    /// Waits until a login has a question, which is kept with it, or has ended.
    ///
    /// - Parameters:
    ///   - login: The login.
    ///   - request: The request that began it or answered its last question.
    /// - Returns: The open question, the session, or the failure.
    func advance(_ login: Login, for request: WebRequest) async -> Progress {
        let outcome: MultiRealmLoginReport.Outcome
        switch await login.interactive.next() {
        case .questions(let callbacks, let number):
            let question = Login.Question(callbacks: callbacks, number: number)
            var waiting = login
            waiting.question = question
            // A login that has been waiting before gives way to one that its browser has begun since.
            if login.question == nil { state.waiting.put(waiting) } else { state.waiting.putBack(waiting) }
            return .question(question, messages: login.interactive.messages)
        case .finished(let finished): outcome = finished
        }
        switch outcome {
        case .rejected(let report):
            state.noteRefusal(report)
            return .failed(.refused, report)
        case .unavailable(let report):
            state.noteRefusal(report)
            return .failed(.unavailable, report)
        case .accepted(let identity, let report):
            switch await establish(identity, of: login, request: request) {
            case .session(let session, let token): return .session(session, token, report)
            case .notice(let notice): return .failed(notice, report)
            }
        }
    }

    /// A new session, or the notice for the sign-in page.
    private enum Established {
        case session(Session, OpaqueToken)
        case notice(Notice)
    }

    /// Creates the session of a login that a realm has accepted; an earlier session of the browser ends.
    private func establish(
        _ identity: AuthenticatedIdentity,
        of login: Login,
        request: WebRequest
    ) async -> Established {
        let (established, hasBegun) = await createSession(identity, of: login, request: request)
        // A login without a session is logged out now, and one with a session when that ends.
        if !hasBegun { state.logouts.add(identity) }
        return established
    }

    /// Creates the session; `hasBegun` is true if there was one, even if it has ended again.
    private func createSession(
        _ identity: AuthenticatedIdentity,
        of login: Login,
        request: WebRequest
    ) async -> (Established, hasBegun: Bool) {
        guard let realm = authenticator.realms[identity.realm], let host = request.host else {
            return (.notice(.unavailable), false)
        }
        let validator = SessionValidator(authenticator: authenticator)
        let stamp: SecurityStamp
        switch await validator.state(of: identity.username, in: realm) {
        case .present(let present): stamp = present
        case .gone: return (.notice(.changed), false)
        case .unknown: return (.notice(.unavailable), false)
        }
        // The stamp is current, while the login may have been accepted before a change. A change before this point
        // rejects the session below, and one after it changes the stamp.
        guard await settleChanges(of: identity.realm) else { return (.notice(.unavailable), false) }
        if let before = session(request, isActivity: false), await !end(before.session, cause: .replaced) {
            return (.notice(.unavailable), false)
        }
        do throws(SessionFault) {
            let (session, token) = try await sessions.begin(
                identity,
                at: host,
                from: request.sessionClient,
                stamp: stamp,
                since: login.start.epoch,
                replacing: state.recent.of(login.browser)
            )
            guard state.generation == login.start.generation else {
                // The configuration was reloaded since, and the realm may be a different one.
                _ = await end(session, cause: .userChanged)
                return (.notice(.unavailable), true)
            }
            state.recent.put(session, for: login.browser)
            state.noteBeginning(session)
            return (.session(session, token), true)
        } catch {
            switch error.code {
            case .changedMeanwhile, .ended: return (.notice(.changed), false)
            case .full, .tooManyStreams: return (.notice(.full), false)
            case .closing, .unavailable: return (.notice(.unavailable), false)
            }
        }
    }

    /// The result of ``answer(_:number:secret:)``.
    enum Answered {
        /// No login of the browser waits.
        case nothingWaits
        /// The login waits for the answer to another question.
        case anotherQuestion
        /// The login goes on.
        case answered(Login)
    }

    /// Passes answers to the login that waits for them.
    ///
    /// The login is taken out of the table first, so no question is answered twice.
    ///
    /// - Parameters:
    ///   - browser: The browser that the login belongs to.
    ///   - number: The number of the question.
    ///   - secret: Returns the answer to the callback of an index; nil if there is none.
    /// - Returns: The login, if it continues.
    func answer(_ browser: BrowserBinding, number: Int?, secret: (Int) -> Secret?) -> Answered {
        let login: Login
        switch state.waiting.take(browser.digest, if: { $0.question?.number == number }) {
        case .none: return .nothingWaits
        case .another: return .anotherQuestion
        case .taken(let taken): login = taken
        }
        guard let question = login.question else { return .nothingWaits }
        let answers: [Answer] = question.callbacks.enumerated().map { index, callback in
            switch callback {
            case .name: secret(index)?.utf8Text.map { Answer.name($0.string) } ?? .none
            case .password, .oneTimeCode: secret(index).map(Answer.secret) ?? .none
            case .certificate, .message: .none
            }
        }
        guard login.interactive.answer(answers, to: question.number) else { return .nothingWaits }
        return .answered(login)
    }

    /// Returns the browser of a request with the cookie of the sign-in page; nil without it.
    func browser(of request: WebRequest) -> BrowserBinding? {
        guard case .token(let token) = request.cookies.signIn else { return nil }
        do throws(OpenSSLError) {
            return try BrowserBinding(known: token, request: request)
        } catch {
            return nil
        }
    }
}
