// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import HTTPTypes

/// The header fields that restrict what a browser does with our pages.
package struct SecurityHeaders: Sendable {
    /// The capabilities that a page needs.
    package enum Kind: Sendable, Hashable {
        /// A page to be shown.
        case plain
        /// A page with a form: with the referrer policy of other pages a browser would send `Origin: null` with it.
        case form
        /// A page with our script, which listens to our events.
        case live
    }

    private let isTrusted: Bool
    private let formTargets: String

    /// - Parameters:
    ///   - isTrusted: True if clients are expected to trust the certificate. Only then is HSTS sent: a development
    ///     server must not force TLS on other programs on `localhost`.
    ///   - returnTo: The other origins that a sign-in may lead to: browsers apply `form-action` to redirects too.
    package init(isTrusted: Bool, returnTo: [String] = []) {
        self.isTrusted = isTrusted
        formTargets = (["'self'"] + returnTo).joined(separator: " ")
    }

    package func add(to headers: inout HTTPFields, for kind: Kind = .plain) {
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
