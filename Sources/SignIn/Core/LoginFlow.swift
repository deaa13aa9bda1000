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

    /// A login that has begun.
    struct Begun {
        let login: InteractiveLogin<RealmLogin>
        let username: Username
        /// The beginning of the login, which may not have seen the changes after it.
        let began: SignInState.Beginning
    }

    /// Begins a login.
    ///
    /// - Parameters:
    ///   - username: The user name.
    ///   - password: The password.
    ///   - realms: The names of the realms, in order.
    ///   - request: The request.
    /// - Returns: The login.
    func begin(
        as username: Username,
        password: Secret,
        in realms: [String],
        for request: WebRequest
    ) async -> Begun {
        // A change before the login must not count as one that the login has not seen.
        for realm in realms { _ = await settleChanges(of: realm) }
        let authenticator = authenticator
        let address = request.address
        let began = SignInState.Beginning(mark: sessions.revocationEpoch(), generation: state.generation)
        let login = InteractiveLogin(name: username.text, password: password) { conversation in
            await RealmLogin.make(
                with: authenticator,
                in: realms,
                as: username,
                address: address,
                asking: conversation
            )
        }
        return Begun(login: login, username: username, began: began)
    }

    /// Keeps a login until the user has answered its question.
    ///
    /// - Parameters:
    ///   - begun: The login.
    ///   - questions: The question's callbacks.
    ///   - number: The question's number.
    ///   - target: The target to return to after the sign-in.
    ///   - browser: The browser that the login belongs to.
    ///   - request: The request.
    ///   - isNew: True if the login has just begun.
    func keep(
        _ begun: Begun,
        asking questions: [Callback],
        number: Int,
        target: String?,
        browser: BrowserBinding,
        request: WebRequest,
        isNew: Bool
    ) {
        let pending = SignInState.Pending(
            target: target,
            messages: begun.login.messages,
            questions: questions,
            number: number,
            began: begun.began
        )
        let waiting = PendingLogins<RealmLogin, SignInState.Pending>.Waiting(
            login: begun.login,
            context: pending,
            source: ClientNetwork(request.address ?? ""),
            account: begun.username,
            browser: browser.digest
        )
        // A login that waited before is not put back if its browser has begun another one since.
        if isNew { state.waiting.put(waiting) } else { state.waiting.putBack(waiting) }
    }

    /// A new session, or the notice for the sign-in page.
    enum Established {
        case session(Session, OpaqueToken)
        case notice(Notice)
    }

    /// Creates the session of a login that a realm has accepted.
    ///
    /// - Parameters:
    ///   - identity: The authenticated identity.
    ///   - began: The beginning of the login.
    ///   - browser: The browser that the login belongs to; its earlier session ends.
    ///   - request: The last request of the login.
    /// - Returns: The session, or the notice for the sign-in page.
    func establish(
        _ identity: AuthenticatedIdentity,
        since began: SignInState.Beginning,
        browser: BrowserBinding,
        request: WebRequest
    ) async -> Established {
        let (established, hasBegun) = await createSession(identity, since: began, browser: browser, request: request)
        // A login without a session is logged out now, and one with a session when that ends.
        if !hasBegun { state.logouts.add(identity) }
        return established
    }

    /// Creates the session; `hasBegun` is true if there was one, even if it has ended again.
    private func createSession(
        _ identity: AuthenticatedIdentity,
        since began: SignInState.Beginning,
        browser: BrowserBinding,
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
                since: began.mark,
                replacing: state.recent.of(browser.digest)
            )
            guard state.generation == began.generation else {
                // The configuration was reloaded since, and the realm may be a different one.
                _ = await end(session, cause: .userChanged)
                return (.notice(.unavailable), true)
            }
            state.recent.put(session, for: browser.digest)
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
        /// The login continues.
        case answered(Begun, SignInState.Pending)
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
        let waiting: PendingLogins<RealmLogin, SignInState.Pending>.Waiting
        switch state.waiting.take(browser.digest, if: { $0.number == number }) {
        case .none: return .nothingWaits
        case .another: return .anotherQuestion
        case .taken(let taken): waiting = taken
        }
        let pending = waiting.context
        let answers: [Answer] = pending.questions.enumerated().map { index, question in
            switch question {
            case .name: secret(index)?.utf8Text.map { Answer.name($0.string) } ?? .none
            case .password, .oneTimeCode: secret(index).map(Answer.secret) ?? .none
            case .certificate, .message: .none
            }
        }
        guard waiting.login.answer(answers, to: pending.number) else { return .nothingWaits }
        let begun = Begun(login: waiting.login, username: waiting.account, began: pending.began)
        return .answered(begun, pending)
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
