// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore
internal import RealmConfiguration

/// Functions that create responses.
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
        _ value: some Encodable,
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
        return RenderedResponse(head, text: JSONText.of(value) + "\n").response(isHead: request.method == "HEAD")
    }

    func error(
        _ code: String,
        status: HTTPResponse.Status,
        to request: WebRequest,
        cookies: [String] = []
    ) -> Response {
        json(["error": code], status: status, to: request, cookies: cookies)
    }

    /// Returns a response of the session API with status 400 and a reason.
    func malformed(_ reason: String, to request: WebRequest) -> Response {
        json(["error": "malformed", "reason": reason], status: .badRequest, to: request)
    }
}

/// The form in the body of a request, or the response if the body is not a valid form.
enum SubmittedForm {
    case fields(FormFields)
    case rejected(Response)
}

extension SignInComponent {
    /// Reads the form in the body of a request.
    ///
    /// The response is 415 if the body has another type, 413 if the body is too long, and 400 if the form is malformed.
    func form(_ request: WebRequest) async -> SubmittedForm {
        guard request.isForm else { return .rejected(render(.unsupported, to: request)) }
        guard let body = await request.collectedBody() else { return .rejected(render(.tooLarge, to: request)) }
        do throws(BadFields) {
            return .fields(try FormFields(body.readableBytesUInt8Span))
        } catch {
            return .rejected(render(.badRequest(error), to: request))
        }
    }
}
