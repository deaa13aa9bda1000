// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmKit
internal import Sessions

/// The page for the questions of a login.
extension SignIn {
    /// `GET /sign-in/step`: the page with the open question.
    func showStep(_ request: WebRequest) -> RenderedResponse {
        guard let browser = BrowserBinding(known: request), let login = service.pendingLogins.peek(browser.digest),
            let question = login.question
        else {
            let query = Destination(FormFields(query: request.query)).query
            return redirect(Self.link(routes.signIn, query), answering: request)
        }
        let query = login.form.destination.query
        let target = target(login.form.destination.target, request: request)
        let application = applicationName(target, rule: rule(for: target, request: request))
        let user = Message.verbatim(login.form.username.text)
        let line =
            application.map { Message(.signingInToAs, ["application": $0, "user": user]) }
            ?? Message(.signingInAs, ["user": user])
        var page = Page(title: .key(.oneMoreStep), lines: [line])
        page.kind = .formWithScript
        let isRejected = login.hasRejectedCode
        page.isError = isRejected
        if isRejected { page.parts.append(.notice(.key(.codeRejected), isError: true)) }
        let (action, cancel) = (Self.link(routes.step, query), Self.link(routes.signIn, query))
        let messages = login.interactive.messages
        page.parts.append(
            Page.Part(PageTemplate.step) { translation in
                [
                    "action": action, "cancel": cancel, "number": String(question.number), "rejected": isRejected,
                    "questions": messages.map { ["message": $0] } + Self.inputs(question.callbacks, translation),
                ]
            }
        )
        addAnnouncement(to: &page, for: request)
        return render(page, to: request)
    }

    /// A message has no input field.
    ///
    /// The prompt of a module is translated only if it is the standard one.
    private static func inputs(_ questions: [Callback], _ translation: Translation) -> [[String: Any]] {
        var isFirst = true
        return questions.enumerated().map { index, question in
            var input: [String: Any] = ["id": "answer-\(index)", "type": "text", "autocomplete": "off"]
            switch question {
            case .message(let text): return ["message": text]
            case .certificate: return [:]
            case .name(let prompt): input["prompt"] = prompt
            case .password(let prompt): input.merge(["prompt": prompt, "type": "password"]) { $1 }
            case .oneTimeCode(let prompt):
                let isStandard = prompt.utf8.elementsEqual(Translation.english[.oneTimeCode].utf8)
                let label = isStandard ? translation[.oneTimeCode] : prompt
                input.merge(["prompt": label, "autocomplete": "one-time-code", "isCode": true]) { $1 }
            }
            input["isFirst"] = isFirst
            isFirst = false
            return input
        }
    }

    /// `POST /sign-in/step`: answers the open question.
    func answerStep(_ request: WebRequest) async throws(RejectedForm) -> RenderedResponse {
        guard request.isForm else { return render(.unsupported, to: request) }
        let destination = Destination(FormFields(query: request.query))
        guard let browser = BrowserBinding(known: request) else { return withoutCookie(destination, request: request) }
        let fields = try await form(request)
        let number = fields.textIfValid("number").flatMap { Int($0.string) }
        switch answer(browser, number: number, secret: { fields.secret(UTF8Text("answer-\($0)")) }) {
        case .noPendingLogin: return redirectToSignIn(.expired, destination, browser: browser, request: request)
        // If the form was sent twice or the page is old, the browser is redirected to the open question.
        case .anotherQuestion: return redirectToStep(destination, answering: request)
        case .answered(let login): return await response(to: login, browser: browser, request: request)
        }
    }

    func redirectToStep(_ destination: Destination, answering request: WebRequest) -> RenderedResponse {
        redirect(Self.link(routes.step, destination.query), answering: request)
    }
}
