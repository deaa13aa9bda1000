// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes

/// The challenge of a rule: the realm and the schemes by which a client can authenticate.
package struct Challenge: Sendable, Hashable {
    /// The first realm of the rule, which the challenge names as the protection space (RFC 9110 section 11.5).
    package let realm: String
    /// The schemes, in the order of preference.
    package let schemes: [ProtectRule.Scheme]

    /// The scheme `certificate` has no challenge: a client sends its certificate in the TLS handshake.
    package init(_ rule: ProtectRule) {
        self.init(realm: rule.realms.first ?? "", schemes: rule.schemes.filter { $0 != .certificate })
    }

    package init(realm: String, schemes: [ProtectRule.Scheme]) {
        self.realm = realm
        self.schemes = schemes
    }

    package var isEmpty: Bool { schemes.isEmpty }

    /// The challenge for a script of a page: only the form, if that is first.
    ///
    /// With Basic a browser would open a password dialog for the request of the script.
    package var forScripts: Challenge { schemes.first == .form ? Challenge(realm: realm, schemes: [.form]) : self }

    /// Adds a `WWW-Authenticate` field for each scheme; a 401 response must have one (RFC 9110 section 15.5.2).
    ///
    /// No scheme for sign-in pages is registered. The field for the form follows draft-broyer-http-cookie-auth, with
    /// the path or the URL of the sign-in page. Clients ignore a scheme that they do not know. Basic comes first for
    /// proxies that may pass on only the first field, such as nginx before 1.23: programs need this field, but browsers
    /// are redirected to the sign-in page and need none.
    package func add(to headers: inout HTTPFields, signInAt page: String, putsBasicFirst: Bool = false) {
        let ordered = putsBasicFirst ? schemes.filter { $0 == .basic } + schemes.filter { $0 != .basic } : schemes
        for scheme in ordered {
            let value: String
            switch scheme {
            case .basic: value = BasicScheme.challenge(realm: realm)
            case .form:
                value =
                    "Cookie realm=\(BasicScheme.quoted(realm)), form-action=\"\(page)\", "
                    + "cookie-name=\"\(OurCookies.sessionName)\""
            case .certificate: continue
            }
            headers.append(HTTPField(name: .wwwAuthenticate, value: value))
        }
    }
}
