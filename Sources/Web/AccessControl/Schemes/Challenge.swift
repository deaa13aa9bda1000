// SPDX-License-Identifier: Apache-2.0

package import HTTPTypes
package import RealmConfiguration

/// The challenge of a rule: the realm and the schemes by which a client can authenticate.
package struct Challenge: Sendable, Hashable {
    /// The name of the first realm of the rule.
    ///
    /// The challenge names it as the protection space (RFC 9110 section 11.5).
    package let realm: String
    /// The schemes, in the order of preference.
    package let schemes: [ProtectRule.Scheme]

    /// The challenge of a rule.
    ///
    /// The scheme `certificate` has no challenge: a client sends its certificate in the TLS handshake.
    package init(_ rule: ProtectRule) {
        self.init(realm: rule.realms.first ?? "", schemes: rule.schemes.filter { $0 != .certificate })
    }

    package init(realm: String, schemes: [ProtectRule.Scheme]) {
        self.realm = realm
        self.schemes = schemes
    }

    /// True if the challenge has no scheme.
    package var isEmpty: Bool { schemes.isEmpty }

    /// The challenge for a script of a page.
    ///
    /// If the form is the first scheme, the other schemes are removed. If the response offered Basic, a browser would
    /// open a password dialog for the request of the script.
    package var forScripts: Challenge { schemes.first == .form ? Challenge(realm: realm, schemes: [.form]) : self }

    /// Adds a `WWW-Authenticate` field for each scheme.
    ///
    /// A 401 response must have such a field (RFC 9110 section 15.5.2).
    ///
    /// No scheme for sign-in pages is registered. The field for the form follows draft-broyer-http-cookie-auth. Clients
    /// ignore a scheme that they do not know.
    ///
    /// - Parameters:
    ///   - headers: The header fields of the response.
    ///   - page: The path of the sign-in page, or its URL if it is at another host.
    ///   - putsBasicFirst: True if Basic is the first field, for proxies that may pass on only the first field, such as
    ///     nginx before 1.23. Programs need the field of Basic. Browsers are redirected to the sign-in page and need no
    ///     field.
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
