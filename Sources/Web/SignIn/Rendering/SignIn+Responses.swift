// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import HTTPTypes
internal import NIOCore
internal import RealmKit

struct RejectedForm: Error {
    let response: RenderedResponse
}

extension SignIn {
    func render(
        _ page: Page,
        to request: WebRequest,
        cookies: [String] = [],
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) -> RenderedResponse {
        let representation = Representation(for: request.fields, in: context.translations)
        var rendered = page.rendered(as: representation, in: context)
        rendered.head.headerFields.add(cookies)
        (rendered.user, rendered.report) = (user, report)
        return rendered
    }

    func redirect(
        _ location: String,
        answering request: WebRequest,
        cookies: [String] = [],
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) -> RenderedResponse {
        render(.redirect(to: location), to: request, cookies: cookies, user: user, report: report)
    }

    /// Returns a response of the session API, or of the realm API, which uses no cookies.
    func json(
        _ value: JSONValue,
        status: HTTPResponse.Status = .ok,
        to request: WebRequest,
        usesCookies: Bool = true,
        cookies: [String] = [],
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) -> RenderedResponse {
        var headers: HTTPFields = [.contentType: "application/json", .cacheControl: "no-store"]
        if usesCookies { headers[.vary] = "Cookie" }
        context.security.add(to: &headers)
        headers.add(cookies)
        if usesCookies, status == .unauthorized {
            let challenge = Challenge(realm: realms.first ?? "", schemes: [.form])
            challenge.add(to: &headers, signInAt: context.links.page)
        }
        if status == .serviceUnavailable { headers[.retryAfter] = "5" }
        let body = ByteBuffer(bytes: value.bytes(.web) + [UInt8(ascii: "\n")])
        return RenderedResponse(status, headers, body: body, user: user, report: report)
    }

    func error(
        _ code: String,
        status: HTTPResponse.Status,
        to request: WebRequest,
        cookies: [String] = [],
        user: SignedInUser? = nil,
        report: LoginReport? = nil
    ) -> RenderedResponse {
        json(["error": .text(code)], status: status, to: request, cookies: cookies, user: user, report: report)
    }

    /// Returns a response of the session API with status 400 and a reason.
    func malformed(_ reason: String, to request: WebRequest) -> RenderedResponse {
        json(["error": .text("malformed"), "reason": .text(reason)], status: .badRequest, to: request)
    }

    /// Reads the form in the body: 415 if it has another type, 413 if it is too long, and 400 if the form is malformed.
    func form(_ request: WebRequest, user: SignedInUser? = nil) async throws(RejectedForm) -> FormFields {
        func rejection(_ page: Page) -> RejectedForm { RejectedForm(response: render(page, to: request, user: user)) }
        guard request.isForm else { throw rejection(.unsupported) }
        guard let body = await request.collectedBody() else { throw rejection(.tooLarge) }
        return try Result { () throws(BadFields) in try FormFields(body.readableBytesUInt8Span) }
            .mapError { rejection(.badRequest(.verbatim($0))) }.get()
    }

    /// Adds the message of the administrator to a page, before its other parts.
    func addAnnouncement(to page: inout Page, for request: WebRequest) {
        guard let text = service.announcement.text else { return }
        if request.asHTML {
            page.parts.insert(Page.Part(PageTemplate.announcement) { _ in ["announcement": text] }, at: 0)
        } else {
            page.lines.append(.verbatim(text))
        }
    }
}

extension HTTPFields {
    mutating func add(_ cookies: [String]) {
        for cookie in cookies { append(HTTPField(name: .setCookie, value: cookie)) }
    }
}
