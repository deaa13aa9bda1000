// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import HummingbirdCore
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

/// The page for the questions of a login.
extension SignInPage {
    /// `GET /sign-in/step`: the page with the open question.
    func showStep(_ request: WebRequest) -> LoggedResponse {
        guard let browser = login.browser(of: request), let waiting = state.pendingLogins.peek(browser.digest),
            let question = waiting.question
        else {
            let query = Destination(FormFields(query: request.query)).query
            return LoggedResponse(redirect(Self.link(routes.signIn, query), answering: request))
        }
        let query = waiting.destination.query
        let target = target(waiting.destination.target, request: request)
        let application = applicationName(target, rule: rule(for: target, request: request))
        let user = Message.verbatim(waiting.account.text)
        let line =
            application.map { Message(.signingInToAs, ["application": $0, "user": user]) }
            ?? Message(.signingInAs, ["user": user])
        var page = Page(title: .key(.oneMoreStep), lines: [line])
        page.kind = .formWithScript
        let isRejected = waiting.hasRejectedCode
        page.isError = isRejected
        if isRejected { page.parts.append(.notice(.key(.codeRejected), isError: true)) }
        let (action, cancel) = (Self.link(routes.step, query), Self.link(routes.signIn, query))
        let messages = waiting.interactive.messages
        page.parts.append(
            Page.Part(PageTemplate.step) { translation in
                [
                    "action": action, "cancel": cancel, "number": String(question.number), "rejected": isRejected,
                    "questions": messages.map { ["message": $0] } + Self.inputs(question.callbacks, translation),
                ]
            }
        )
        addAnnouncement(to: &page, for: request)
        return LoggedResponse(render(page, to: request))
    }

    /// A message has no input field.
    ///
    /// The prompt of a module is translated only if it is the standard one.
    private static func inputs(_ questions: [Callback], _ translation: Translation) -> [[String: Any]] {
        var isFirst = true
        return questions.enumerated().map { index, question in
            var input: [String: Any] = ["id": "answer-\(index)"]
            switch question {
            case .message(let text): return ["message": text]
            case .certificate: return [:]
            case .name(let prompt): input.merge(field(prompt, type: "text", autocomplete: "off")) { $1 }
            case .password(let prompt): input.merge(field(prompt, type: "password", autocomplete: "off")) { $1 }
            case .oneTimeCode(let prompt):
                let isStandard = prompt.utf8.elementsEqual(Translation.english[.oneTimeCode].utf8)
                let label = isStandard ? translation[.oneTimeCode] : prompt
                input.merge(field(label, type: "text", autocomplete: "one-time-code")) { $1 }
                input["isCode"] = true
            }
            input["isFirst"] = isFirst
            isFirst = false
            return input
        }
    }

    private static func field(_ prompt: String, type: String, autocomplete: String) -> [String: Any] {
        ["prompt": prompt, "type": type, "autocomplete": autocomplete]
    }

    /// `POST /sign-in/step`: answers the open question.
    func step(_ request: WebRequest) async -> LoggedResponse {
        guard request.isForm else { return LoggedResponse(render(.unsupported, to: request)) }
        let destination = Destination(FormFields(query: request.query))
        guard let browser = login.browser(of: request) else { return withoutCookie(destination, request: request) }
        let fields: FormFields
        switch await form(request) {
        case .fields(let read): fields = read
        case .rejected(let response): return LoggedResponse(response)
        }
        let number = fields.read("number").flatMap { Int($0.string) }
        switch login.answer(browser, number: number, secret: { fields.secret(UTF8Text("answer-\($0)")) }) {
        case .noPendingLogin:
            return LoggedResponse(redirectToSignIn(.expired, destination, browser: browser, request: request))
        // If the form was sent twice or the page is old, the browser is redirected to the open question.
        case .anotherQuestion: return LoggedResponse(redirectToStep(destination, answering: request))
        case .answered(let pending): return await proceed(with: pending, browser: browser, request: request)
        }
    }
}
