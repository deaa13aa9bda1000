// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import RealmKit
internal import Sessions

/// Renders standard responses as pages, in HTML or as text.
extension SignIn {
    /// The responses that depend only on the representation, so that a server can render them in advance.
    package var commonResponses: [StandardResponse] {
        let challenges = Set(rules.all.filter { $0.access == .users }.map { Challenge($0) }.filter { !$0.isEmpty })
        let unauthorized = challenges.flatMap { [$0, $0.forScripts] }.flatMap { challenge in
            [true, false].map { StandardResponse.unauthorized(challenge, wasRejected: $0) }
        }
        return [
            .index, .health, .certificateNeeded, .crossOrigin, .misdirected, .ambiguousPath, .notFound,
            .methodNotAllowed(StandardResponse.safeMethods), .unavailable,
        ] + PageAsset.allCases.map { .asset($0) } + unauthorized
    }

    package func render(
        _ response: StandardResponse,
        as representation: Representation,
        for authentication: ExistingAuthentication?
    ) -> RenderedResponse {
        if case .asset(let asset) = response,
            let rendered = RenderedResponse(asset, in: context, representation.language)
        {
            return rendered
        }
        return page(response, for: authentication).rendered(as: representation, in: context)
    }

    private func page(_ response: StandardResponse, for authentication: ExistingAuthentication?) -> Page {
        /// Returns the button to sign out, and one for another user, who signs in for the target; nil without a session.
        func signOut(thenSignInFor target: String? = nil) -> Page.Part? {
            guard case .session(_, let token) = authentication else { return nil }
            return .signOut(token, thenSignInFor: target, routes: routes)
        }
        return switch response {
        case .index: .index(rules.all, title: context.brand.name)
        case .health: .health
        case .welcome(let user): .welcome(user, signOut: signOut())
        case .forbidden(let user, let target):
            .forbidden(user, signOut: user == nil ? nil : signOut(thenSignInFor: target))
        case .certificateNeeded: .certificateNeeded
        case .crossOrigin: .crossOrigin
        case .unauthorized(let challenge, let wasRejected):
            .unauthorized(challenge, wasRejected: wasRejected, links: context.links)
        case .signIn(let link, _, let isSafe): .redirect(to: link, isSafe: isSafe)
        case .misdirected: .misdirected
        case .ambiguousPath: .badRequest(.key(.ambiguousPath))
        case .malformed(let reason): .badRequest(.verbatim(reason))
        case .notFound, .asset: .notFound
        case .methodNotAllowed(let allowed): .methodNotAllowed(allowed)
        case .unavailable: .unavailable
        }
    }
}

extension Page.Part {
    /// The link to the account page, the button to sign out, and one for another user, who signs in for the target; nil
    /// if the CSRF token cannot be computed.
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
