// SPDX-License-Identifier: Apache-2.0

package import AccessControl
package import HTTPTypes
package import HummingbirdCore
package import NIOCore
package import RealmConfiguration
internal import RealmKit
internal import Sessions

/// Renders standard responses as pages, in HTML or as text.
package struct ResponseRenderer: Sendable {
    /// The context of the configuration.
    package let context: PageContext
    private let rules: [ProtectRule]

    /// A renderer for a configuration.
    ///
    /// - Parameters:
    ///   - rules: The rules. The index page lists them.
    ///   - context: The context of the configuration.
    package init(rules: [ProtectRule], context: PageContext) {
        self.rules = rules
        self.context = context
    }

    /// The responses that depend only on the representation.
    ///
    /// A server can render them in advance.
    package var commonResponses: [StandardResponse] {
        let challenges = Set(rules.filter { $0.access == .users }.map { Challenge($0) }.filter { !$0.isEmpty })
        let unauthorized = challenges.flatMap { [$0, $0.forScripts] }.flatMap { challenge in
            [true, false].map { StandardResponse.unauthorized(challenge, wasRejected: $0) }
        }
        return [
            .index, .health, .certificateNeeded, .misdirected, .ambiguousPath, .notFound,
            .methodNotAllowed(StandardResponse.safeMethods), .unavailable,
        ] + PageAsset.allCases.map { .asset($0) } + unauthorized
    }

    /// Renders a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - representation: The form of the page.
    ///   - authentication: The authentication of the request, if there is one.
    /// - Returns: The rendered response.
    package func render(
        _ response: StandardResponse,
        as representation: Representation,
        for authentication: ExistingAuthentication?
    ) -> RenderedResponse {
        switch response {
        case .asset(let asset):
            return RenderedResponse(asset, in: context, representation.language)
                ?? render(.notFound, as: representation, for: authentication)
        case .index, .health, .welcome, .forbidden, .certificateNeeded, .unauthorized, .signIn, .misdirected,
            .ambiguousPath, .malformed, .notFound, .methodNotAllowed, .unavailable:
            return page(response, for: authentication).rendered(as: representation, in: context)
        }
    }

    private func page(_ response: StandardResponse, for authentication: ExistingAuthentication?) -> Page {
        switch response {
        case .index: .index(rules, title: context.brand.name)
        case .health: .health
        case .welcome(let user): .welcome(user, signOut: signOut(authentication))
        case .forbidden(let user, let target):
            .forbidden(user, signOut: user == nil ? nil : signOut(authentication, thenSignInFor: target))
        case .certificateNeeded: .certificateNeeded
        case .unauthorized(let challenge, let wasRejected):
            .unauthorized(challenge, wasRejected: wasRejected, links: context.links)
        case .signIn(let redirect): .redirect(to: redirect.link, isSafe: redirect.isSafe)
        case .misdirected: .misdirected
        case .ambiguousPath: .badRequest(.key(.ambiguousPath))
        case .malformed(let reason): .badRequest(.verbatim(reason))
        case .notFound, .asset: .notFound
        case .methodNotAllowed(let allowed): .methodNotAllowed(allowed)
        case .unavailable: .unavailable
        }
    }

    /// Returns the buttons to sign out; nil without a session.
    ///
    /// - Parameters:
    ///   - authentication: The authentication of the request.
    ///   - target: The target of a button for another user, who signs in and then returns to it; nil for no such button.
    /// - Returns: The part of the page.
    private func signOut(
        _ authentication: ExistingAuthentication?,
        thenSignInFor target: String? = nil
    ) -> Page.Part? {
        guard case .session(_, let token) = authentication else { return nil }
        return .signOut(token, thenSignInFor: target, routes: context.routes)
    }
}

extension Page.Part {
    /// Returns the link to the account page and the button to sign out; nil if the CSRF token cannot be computed.
    ///
    /// - Parameters:
    ///   - token: The token of the session.
    ///   - target: The target of a button for another user, who signs in and then returns to it; nil for no such button.
    ///   - routes: The paths of the pages.
    ///   - hasAccount: True if the part has a link to the account page.
    /// - Returns: The part.
    static func signOut(
        _ token: OpaqueToken,
        thenSignInFor target: String? = nil,
        routes: Routes,
        hasAccount: Bool = true
    ) -> Page.Part? {
        guard let csrfToken = CSRFToken.text(token) else { return nil }
        return Page.Part(PageTemplate.signOut) { _ in
            [
                "action": routes.signOut, "csrf": csrfToken, "account": hasAccount ? [routes.account] : [],
                "target": target.map { [$0] } ?? [], "isSecondary": target != nil,
            ]
        }
    }
}

/// The form of a page that suits a client: HTML or text, and the language (RFC 9110 section 12).
package struct Representation: Sendable, Hashable {
    /// True for HTML, false for text.
    package let isHTML: Bool
    /// The index of the translation in the translations of the configuration.
    package let language: Int

    /// A representation.
    ///
    /// - Parameters:
    ///   - isHTML: True for HTML, false for text.
    ///   - language: The index of the translation in the translations of the configuration.
    package init(isHTML: Bool, language: Int = 0) {
        self.isHTML = isHTML
        self.language = language
    }

    /// The representation that a client prefers.
    ///
    /// - Parameters:
    ///   - fields: The header fields of the request.
    ///   - translations: The translations.
    package init(for fields: HTTPFields, in translations: Translations) {
        isHTML = AcceptField.prefersHTML(fields)
        language = AcceptLanguageField.index(for: fields, in: translations)
    }
}

/// A response with a complete body.
package struct RenderedResponse: Sendable {
    /// The status and the header fields, without `Content-Length`.
    package var head: HTTPResponse
    /// The body.
    package var body: ByteBuffer

    /// A response.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields, without `Content-Length`.
    ///   - body: The body.
    package init(_ head: HTTPResponse, body: ByteBuffer = ByteBuffer()) {
        self.head = head
        self.body = body
    }

    /// A response whose body is a text.
    ///
    /// - Parameters:
    ///   - head: The status and the header fields, without `Content-Length`.
    ///   - text: The body.
    package init(_ head: HTTPResponse, text: String) { self.init(head, body: ByteBuffer(string: text)) }

    /// Returns the response to a request, with `Content-Length`.
    ///
    /// - Parameter isHead: True if the method is HEAD. The response then has the length of the body but no body (RFC
    ///   9110 section 9.3.2).
    /// - Returns: The response.
    package func response(isHead: Bool) -> Response {
        var headers = head.headerFields
        headers[.contentLength] = String(body.readableBytes)
        return Response(
            status: head.status,
            headers: headers,
            body: ResponseBody(byteBuffer: isHead ? ByteBuffer() : body)
        )
    }
}
