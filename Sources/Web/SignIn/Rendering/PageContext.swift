// SPDX-License-Identifier: Apache-2.0

package import AccessControl
internal import Bytes
package import HTTPTypes
package import OpenSSLKit
internal import RealmConfiguration
internal import Synchronization

/// The paths and header fields that are the same for all pages of a configuration.
package struct PageContext: Sendable {
    private static let lastGeneration = Atomic(0)

    package let security: SecurityHeaders
    package let links: SignInLinks
    package let brand: SignInBrand
    package let translations: Translations
    /// The public keys of identity tokens; nil if applications get no tokens.
    package let identityKeys: IdentityKeySet?
    /// The script of the sign-in form in the language of each translation.
    let formScripts: [InlineScript]
    /// The HTML of a redirect before and after its link, in the language of each translation.
    private(set) var redirectFrames: [(start: String, end: String)] = []
    package var routes: Routes { links.routes }
    // Each configuration has its own number, because a reload may change the pages.
    private let generation: Int

    package init(
        security: SecurityHeaders,
        links: SignInLinks,
        brand: SignInBrand,
        translations: Translations = Translations(),
        identityKeys: IdentityKeySet? = nil
    ) throws(OpenSSLError) {
        self.security = security
        self.links = links
        self.brand = brand
        self.translations = translations
        self.identityKeys = identityKeys
        var scripts: [InlineScript] = []
        for translation in translations.all { scripts.append(try InlineScript(ofFormIn: translation)) }
        formScripts = scripts
        generation = Self.lastGeneration.add(1, ordering: .relaxed).newValue
        redirectFrames = translations.all.map { Page.redirectFrame(in: self, $0) }
    }

    init(_ configuration: Configuration, isCertificateTrusted: Bool) throws(OpenSSLError) {
        let server = configuration.server
        var keys: [IdentityKey] = []
        for key in server.identityTokenKeys { keys.append(try IdentityKey(key)) }
        let routes = Routes(
            prefix: server.signIn.prefix,
            hasRealmAPI: server.realmAPI != nil,
            hasLogo: server.signIn.brand.logo != nil,
            hasIdentityKeys: !keys.isEmpty
        )
        try self.init(
            security: SecurityHeaders(isCertificateTrusted: isCertificateTrusted),
            links: SignInLinks(routes: routes, hosts: SignInHosts(server.signIn, rules: configuration.rules)),
            brand: server.signIn.brand,
            translations: server.signIn.translations,
            identityKeys: keys.isEmpty ? nil : IdentityKeySet(keys)
        )
    }

    /// Returns the key of a response in a `ResponseCache`; the keys of two contexts are different.
    package func key(of response: PersonalResponse, in language: Int) -> Int {
        (generation * Translations.maximumCount + language) * 8 + response.rawValue
    }

    /// Returns the key of a response for a host, which is negative, unlike the keys of responses without a host.
    ///
    /// The keys of two hosts may be equal, so the user of the cache compares the host.
    package func key(of response: PersonalResponse, at host: String) -> Int {
        var hasher = Hasher()
        hasher.combine(key(of: response, in: 0))
        host.hashBytes(into: &hasher)
        return hasher.finalize() | Int.min
    }
}

/// The responses that depend only on an authentication.
package enum PersonalResponse: Int, Hashable {
    case welcomeHTML
    case welcomeText
    case forbiddenText
    case identity
    case envoyIdentity
    case identityUTF8
    case envoyIdentityUTF8
}

/// The header fields that restrict what a browser allows a page to do.
package struct SecurityHeaders: Sendable {
    /// The kind of a page, which determines what the browser must allow.
    package enum Kind: Sendable, Hashable, CaseIterable {
        case plain
        /// A page with a form. With the referrer policy of a plain page, a browser would send it with `Origin: null`.
        case form
        case withScript
        case formWithScript
        /// An image, which a browser may also open as a page of its own. An SVG image may have style sheets within it,
        /// but not run scripts or load anything.
        case image
    }

    /// The fields of each kind without a script within the page, made once, because most responses have them.
    private let fields: [Kind: [HTTPField]]
    private let isCertificateTrusted: Bool

    /// HSTS is sent only if clients are expected to trust the certificate, because a development server must not force
    /// TLS on other programs on `localhost`.
    package init(isCertificateTrusted: Bool) {
        self.isCertificateTrusted = isCertificateTrusted
        fields = Dictionary(
            uniqueKeysWithValues: Kind.allCases.map { kind in
                (kind, Self.fields(for: kind, script: nil, isCertificateTrusted: isCertificateTrusted))
            }
        )
    }

    /// Adds the header fields to those of a response that has none of them, with the source expression of the script
    /// within the page.
    package func add(to headers: inout HTTPFields, for kind: Kind = .plain, script: String? = nil) {
        let prepared = script == nil ? fields[kind] : nil
        let added = prepared ?? Self.fields(for: kind, script: script, isCertificateTrusted: isCertificateTrusted)
        headers.reserveCapacity(headers.count + added.count)
        for field in added { headers.append(field) }
    }

    private static func fields(for kind: Kind, script: String?, isCertificateTrusted: Bool) -> [HTTPField] {
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
            // After a sign-in or sign-out, the application may redirect the browser to any other host, such as its
            // identity provider, and browsers apply the policy to the whole chain of redirects. The action of each form
            // is a path.
            case .form, .withScript, .formWithScript: "'self' https:"
            case .image: "'none'"
            }
        policy += ["form-action \(formAction)", "frame-ancestors 'none'", "base-uri 'none'"]
        let referrer = kind == .plain || kind == .image ? "no-referrer" : "strict-origin"
        let permissions = "camera=(), geolocation=(), microphone=()"
        var fields = [
            HTTPField(name: .contentSecurityPolicy, value: policy.joined(separator: "; ")),
            HTTPField(name: .xContentTypeOptions, value: "nosniff"),
            HTTPField(name: .known("Referrer-Policy"), value: referrer),
            HTTPField(name: .known("Cross-Origin-Opener-Policy"), value: "same-origin"),
            HTTPField(name: .known("Cross-Origin-Resource-Policy"), value: "same-origin"),
            HTTPField(name: .known("Permissions-Policy"), value: permissions),
        ]
        if isCertificateTrusted { fields.append(HTTPField(name: .strictTransportSecurity, value: "max-age=31536000")) }
        return fields
    }
}
