// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import OpenSSLKit
internal import RealmKit
internal import Sessions

/// The page with what a login stack asks besides, and the way out.
extension Portal {
    /// `GET /sign-in/step`.
    func showStep(_ request: WebRequest) -> Answer {
        guard let browser = presentBrowser(request), let waiting = state.waiting.look(browser.digest) else {
            return Answer(redirect(places.signIn, request))
        }
        let pending = waiting.context
        var page = Page(title: "One more step", lines: ["One more step"])
        page.kind = .form
        page.parts = [
            Page.Part(
                PageTemplate.step,
                [
                    "action": places.step, "cancel": places.signIn, "number": String(pending.number),
                    "questions": pending.messages.map { ["message": $0] } + Self.inputs(pending.questions),
                ]
            )
        ]
        return Answer(render(page, request))
    }

    /// What the template shows for each question; a message has no input.
    private static func inputs(_ questions: [Callback]) -> [[String: Any]] {
        var isFirst = true
        return questions.enumerated().map { index, question in
            var input: [String: Any] = ["id": "answer-\(index)"]
            switch question {
            case .message(let text): return ["message": text]
            case .certificate: return [:]
            case .name(let prompt): input.merge(field(prompt, "text", "off")) { $1 }
            case .password(let prompt): input.merge(field(prompt, "password", "off")) { $1 }
            case .oneTimeCode(let prompt):
                input.merge(field(prompt, "text", "one-time-code")) { $1 }
                input["isCode"] = true
            }
            input["isFirst"] = isFirst
            isFirst = false
            return input
        }
    }

    private static func field(_ prompt: String, _ type: String, _ autocomplete: String) -> [String: Any] {
        ["prompt": prompt, "type": type, "autocomplete": autocomplete]
    }

    /// `POST /sign-in/step`.
    func step(_ request: WebRequest) async -> Answer {
        guard request.isForm else { return Answer(render(.unsupported, request)) }
        guard let browser = presentBrowser(request) else { return Answer(redirect(places.signIn, request)) }
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .refused(let response): return Answer(response)
        }
        let number = fields.read("number").flatMap { Int($0) }
        switch answer(browser, number, { fields.secret("answer-\($0)") }) {
        case .nothingWaits: return Answer(back(.stale, nil, browser, request))
        // Another answer is on its way, or the page was an old one: the open question is shown.
        case .notThisOne: return Answer(redirect(places.step, request))
        case .answered(let begun, let pending): return await go(on: begun, target: pending.target, browser, request)
        }
    }

    /// What became of answers.
    enum Answered {
        case nothingWaits
        case notThisOne
        case answered(Begun, SignInState.Pending)
    }

    /// Hands answers to the login that waits for them; it is no longer in the table then, so that nobody answers twice.
    ///
    /// - Parameters:
    ///   - browser: Whose login it is.
    ///   - number: The number of the question that is answered.
    ///   - secret: The answer to the callback of that index; nil if there is none.
    /// - Returns: What became of them.
    func answer(_ browser: Browser, _ number: Int?, _ secret: (Int) -> Secret?) -> Answered {
        let waiting: WaitingLogins<SignInAttempt, SignInState.Pending>.Waiting
        switch state.waiting.take(browser.digest, if: { $0.number == number }) {
        case .none: return .nothingWaits
        case .another: return .notThisOne
        case .taken(let taken): waiting = taken
        }
        let pending = waiting.context
        let answers: [RealmKit.Answer] = pending.questions.enumerated().map { index, question in
            switch question {
            case .name: secret(index).flatMap(\.utf8Text).map(RealmKit.Answer.name) ?? .none
            case .password, .oneTimeCode: secret(index).map(RealmKit.Answer.secret) ?? .none
            case .certificate, .message: .none
            }
        }
        guard waiting.dialogue.answer(answers, to: pending.number) else { return .nothingWaits }
        let begun = Begun(dialogue: waiting.dialogue, username: waiting.account, began: pending.began)
        return .answered(begun, pending)
    }

    /// The browser of a request that has shown its cookie.
    func presentBrowser(_ request: WebRequest) -> Browser? {
        guard case .token(let token) = request.cookies.signIn else { return nil }
        do throws(OpenSSLError) {
            return try Browser(known: token)
        } catch {
            return nil
        }
    }

    /// `POST /sign-out`.
    func signOut(_ request: WebRequest) async -> Answer {
        guard let (session, token) = session(request, isActivity: false) else {
            return Answer(signedOut(request))
        }
        guard await formProof(request, token) else {
            return Answer(render(.badRequest("the form is not of this session"), request), user: session.user)
        }
        await sessions.end(session, .logout)
        return Answer(signedOut(request), user: session.user)
    }

    /// Whether the form in a request's body is one of the session's.
    private func formProof(_ request: WebRequest, _ token: OpaqueToken) async -> Bool {
        guard case .fields(let fields) = await form(request) else { return false }
        return FormProof.isRight(fields.read("csrf"), token)
    }

    /// To the sign-in page, without cookies and with nothing of the session left in the browser.
    private func signedOut(_ request: WebRequest) -> Response {
        var response: Response
        do throws(OpenSSLError) {
            let browser = try Browser(request)
            response = back(.signedOut, nil, browser, request)
            for cookie in browser.cookies + [SetCookie.sessionRemoval] {
                response.headers.append(.init(name: .setCookie, value: cookie))
            }
        } catch {
            response = redirect(places.signIn, request, cookies: [SetCookie.sessionRemoval])
        }
        // Not "cookies": that would sign out of every other site of the same domain.
        response.headers[.clearSiteData] = "\"cache\", \"storage\""
        return response
    }
}
