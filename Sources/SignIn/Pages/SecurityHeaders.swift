// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import HTTPTypes

/// The header fields that restrict what a browser allows a page to do.
package struct SecurityHeaders: Sendable {
    /// The kind of a page.
    ///
    /// It determines what the browser must allow.
    package enum Kind: Sendable, Hashable {
        /// A page without a form or a script.
        case plain
        /// A page with a form.
        ///
        /// With the referrer policy of a plain page, a browser would send the form with `Origin: null`.
        case form
        /// A page with the script that receives session events.
        case withScript
        /// A page with a form, and the script of the sign-in form within the page.
        case formWithScript
        /// An image, which a browser may also open as a page of its own.
        ///
        /// An SVG image may have style sheets within it. It may not run scripts or load anything.
        case image
    }

    private let isCertificateTrusted: Bool

    /// The header fields of a configuration.
    ///
    /// - Parameter isCertificateTrusted: True if clients are expected to trust the certificate. HSTS is sent only in this
    ///   case, because a development server must not force TLS on other programs on `localhost`.
    package init(isCertificateTrusted: Bool) { self.isCertificateTrusted = isCertificateTrusted }

    /// Adds the header fields.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the response.
    ///   - kind: The kind of the page.
    ///   - script: The source expression of the script within the page; nil if there is none.
    package func add(to headers: inout HTTPFields, for kind: Kind = .plain, script: String? = nil) {
        var policy = ["default-src 'none'"]
        // The icon is a data URL.
        let page = ["style-src 'self'", "img-src 'self' data:"]
        switch kind {
        case .plain, .form: policy += page
        case .withScript: policy += page + ["script-src 'self'", "connect-src 'self'"]
        // No file of the host is allowed as a script, because an application may have files at the same host.
        case .formWithScript: policy += page + (script.map { ["script-src \($0)"] } ?? [])
        case .image: policy += ["style-src 'unsafe-inline'", "sandbox"]
        }
        let formAction =
            switch kind {
            case .plain: "'self'"
            // After a sign-in or sign-out, the application may redirect the browser to any other host, such as its identity
            // provider, and browsers apply the policy to the whole chain of redirects. The action of each form is a path.
            case .form, .withScript, .formWithScript: "'self' https:"
            case .image: "'none'"
            }
        policy += ["form-action \(formAction)", "frame-ancestors 'none'", "base-uri 'none'"]
        headers[.contentSecurityPolicy] = policy.joined(separator: "; ")
        headers[.xContentTypeOptions] = "nosniff"
        Self.set("Referrer-Policy", kind == .plain || kind == .image ? "no-referrer" : "strict-origin", in: &headers)
        Self.set("Cross-Origin-Opener-Policy", "same-origin", in: &headers)
        Self.set("Cross-Origin-Resource-Policy", "same-origin", in: &headers)
        Self.set("Permissions-Policy", "camera=(), geolocation=(), microphone=()", in: &headers)
        if isCertificateTrusted { headers[.strictTransportSecurity] = "max-age=31536000" }
    }

    private static func set(_ name: String, _ value: String, in fields: inout HTTPFields) {
        if let name = HTTPField.Name(name) { fields[name] = value }
    }
}
