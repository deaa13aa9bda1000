// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import HTTPTypes
package import RealmConfiguration

/// The challenge of a rule: the realm and the schemes with which a client has to authenticate.
package struct Challenge: Sendable, Hashable {
    /// The name of the protection space: the rule's first realm.
    package let realm: String
    /// The schemes offered, in order.
    package let schemes: [ProtectRule.Scheme]

    /// The challenge of a rule.
    package init(_ rule: ProtectRule) { self.init(realm: rule.realms.first ?? "", schemes: rule.schemes) }

    package init(realm: String, schemes: [ProtectRule.Scheme]) {
        self.realm = realm
        self.schemes = schemes
    }

    /// The challenge for a script of a page: the form alone, if the form is the rule's first scheme.
    ///
    /// A browser that is offered Basic opens a dialog over the page, and the script waits for it.
    package var forScripts: Challenge { schemes.first == .form ? Challenge(realm: realm, schemes: [.form]) : self }

    /// Adds a `WWW-Authenticate` field for each scheme; every 401 response must have one (RFC 9110 section 15.5.2).
    ///
    /// A sign-in page has no registered scheme. Its field follows the draft of HTTP cookie authentication
    /// (draft-broyer-http-cookie-auth); clients that do not know the scheme ignore it.
    ///
    /// - Parameters:
    ///   - headers: The response's fields.
    ///   - routes: The paths of the sign-in page.
    ///   - isFirstOnly: True if the proxy may pass on only the first field, as nginx before 1.23 does. Basic then comes
    ///     first, because programs need it; users are redirected to the page.
    package func add(to headers: inout HTTPFields, signInAt routes: Routes, isFirstOnly: Bool = false) {
        let ordered = isFirstOnly ? schemes.filter { $0 == .basic } + schemes.filter { $0 != .basic } : schemes
        for scheme in ordered {
            let value =
                switch scheme {
                case .basic: BasicScheme.challenge(realm: realm)
                case .form:
                    "Cookie realm=\(BasicScheme.quoted(realm)), form-action=\"\(routes.signIn)\", "
                        + "cookie-name=\"\(OurCookies.sessionName)\""
                }
            headers.append(HTTPField(name: .wwwAuthenticate, value: value))
        }
    }
}
