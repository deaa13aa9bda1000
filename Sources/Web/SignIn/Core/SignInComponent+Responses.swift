// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
package import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration
package import RealmKit

extension SignInComponent {
    func render(_ page: Page, to request: WebRequest, cookies: [String] = []) -> Response {
        var rendered = page.rendered(as: request.representation(in: context.translations), in: context)
        for cookie in cookies { rendered.head.headerFields.append(HTTPField(name: .setCookie, value: cookie)) }
        return rendered.response(isHead: request.method == "HEAD")
    }

    /// Returns a redirect with status 303: the browser requests the location by GET (RFC 9110 section 15.4.4).
    func redirect(_ location: String, answering request: WebRequest, cookies: [String] = []) -> Response {
        var page = Page(status: .seeOther, title: .key(.continue), lines: [.key(.continue)])
        page.headers[.location] = location
        page.parts = [.link(to: location, .key(.continue))]
        page.kind = .form
        return render(page, to: request, cookies: cookies)
    }

    func json(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        to request: WebRequest,
        cookies: [String] = []
    ) -> Response {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store", .vary: "Cookie"]
        context.security.add(to: &headers)
        for cookie in cookies { headers.append(HTTPField(name: .setCookie, value: cookie)) }
        if status == .unauthorized {
            Challenge(realm: realms.first ?? "", schemes: [ProtectRule.Scheme.form]).add(
                to: &headers,
                signInAt: context.links.page
            )
        }
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
        let head = HTTPResponse(status: status, headerFields: headers)
        return RenderedResponse(head, text: value.text(.web) + "\n").response(isHead: request.method == "HEAD")
    }

    func error(
        _ code: String,
        status: HTTPResponse.Status,
        to request: WebRequest,
        cookies: [String] = []
    ) -> Response {
        json(["error": .text(code)], status: status, to: request, cookies: cookies)
    }

    /// Returns a response of the session API with status 400 and a reason.
    func malformed(_ reason: String, to request: WebRequest) -> Response {
        json(["error": .text("malformed"), "reason": .text(reason)], status: .badRequest, to: request)
    }
}

enum SubmittedForm {
    case fields(FormFields)
    case rejected(Response)
}

extension SignInComponent {
    /// Reads the form in the body: 415 if it has another type, 413 if it is too long, and 400 if the form is malformed.
    func form(_ request: WebRequest) async -> SubmittedForm {
        guard request.isForm else { return .rejected(render(.unsupported, to: request)) }
        guard let body = await request.collectedBody() else { return .rejected(render(.tooLarge, to: request)) }
        do throws(BadFields) {
            return .fields(try FormFields(body.readableBytesUInt8Span))
        } catch {
            return .rejected(render(.badRequest(error), to: request))
        }
    }

    /// Adds the message of the administrator to a page, before its other parts.
    func addAnnouncement(to page: inout Page, for request: WebRequest) {
        guard let text = state.announcement.text else { return }
        if request.asHTML {
            page.parts.insert(Page.Part(PageTemplate.announcement) { _ in ["announcement": text] }, at: 0)
        } else {
            page.lines.append(.verbatim(text))
        }
    }
}

extension PageTemplate {
    /// The message of the administrator to all users.
    fileprivate static let announcement = compiled(
        """
        <p class="notice" role="note">{{announcement}}</p>

        """
    )
}

/// A response and the data for the log line of its request.
package struct LoggedResponse: Sendable {
    package var response: Response
    package var report: LoginReport?
    /// The user of the session, if there is one.
    package var user: SignedInUser?
    /// A remark for the log line, such as the name of the program that used the realm API.
    package var remark = ""
    /// The rule of the page that a refused sign-in was for, for the log line; empty if there is none.
    package var rule = ""

    init(_ response: Response, report: LoginReport? = nil, user: SignedInUser? = nil) {
        self.response = response
        self.report = report
        self.user = user
    }
}
