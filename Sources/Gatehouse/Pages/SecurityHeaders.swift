// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes

/// Header fields that tell a browser what a page of ours may not do.
struct SecurityHeaders: Sendable {
    /// What a page has to be able to do.
    enum Kind: Sendable, Hashable {
        /// Show itself.
        case plain
        /// Send a form: with the referrer policy of other pages a browser would say `Origin: null` of its own form.
        case form
        /// Run our script, which listens to our events.
        case live
    }

    private let isTrusted: Bool
    private let formTargets: String

    /// - Parameters:
    ///   - isTrusted: Whether clients are meant to trust the certificate. Only then may they be told to come back by TLS
    ///     alone: a development server must not bind other programs on `localhost` to that.
    ///   - returnTo: The other origins that a sign-in may lead to: browsers hold a redirect after a form for part of it.
    init(isTrusted: Bool, returnTo: [String] = []) {
        self.isTrusted = isTrusted
        formTargets = (["'self'"] + returnTo).joined(separator: " ")
    }

    func add(to headers: inout HTTPFields, for kind: Kind = .plain) {
        var policy = ["default-src 'none'", "style-src 'self'", "img-src 'self'"]
        if kind == .live { policy += ["script-src 'self'", "connect-src 'self'"] }
        policy += ["form-action \(formTargets)", "frame-ancestors 'none'", "base-uri 'none'"]
        headers[.contentSecurityPolicy] = policy.joined(separator: "; ")
        headers[.xContentTypeOptions] = "nosniff"
        Self.set("Referrer-Policy", kind == .plain ? "no-referrer" : "same-origin", in: &headers)
        Self.set("Cross-Origin-Opener-Policy", "same-origin", in: &headers)
        Self.set("Cross-Origin-Resource-Policy", "same-origin", in: &headers)
        Self.set("Permissions-Policy", "camera=(), geolocation=(), microphone=()", in: &headers)
        if isTrusted { headers[.strictTransportSecurity] = "max-age=31536000" }
    }

    private static func set(_ name: String, _ value: String, in fields: inout HTTPFields) {
        if let name = HTTPField.Name(name) { fields[name] = value }
    }
}
