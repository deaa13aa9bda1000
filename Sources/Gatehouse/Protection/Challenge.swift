// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import RealmConfiguration

/// What a rule asks for of somebody it does not know.
struct Challenge: Sendable, Hashable {
    /// The name of what is protected: the first realm that is asked.
    let realm: String
    /// The schemes offered, in order.
    let schemes: [ProtectRule.Scheme]

    /// What a rule asks for.
    init(_ rule: ProtectRule) { self.init(realm: rule.realms.first ?? "", schemes: rule.schemes) }

    init(realm: String, schemes: [ProtectRule.Scheme]) {
        self.realm = realm
        self.schemes = schemes
    }

    /// What a script of a page is asked for, where the rule begins with the form: a browser that is offered Basic opens a
    /// window of its own over the page, and the script waits for it.
    var forScripts: Challenge { schemes.first == .form ? Challenge(realm: realm, schemes: [.form]) : self }

    /// Adds a `WWW-Authenticate` field for each scheme, as every 401 has one (RFC 9110 section 15.5.2).
    ///
    /// A page to sign in on has no registered scheme; its form follows the draft of HTTP cookie authentication
    /// (draft-broyer-http-cookie-auth), which clients that do not know it pass over.
    ///
    /// - Parameters:
    ///   - headers: The response's fields.
    ///   - places: Where the sign-in page is.
    ///   - isFirstOnly: Whether the first field may be the only one that gets through, as with nginx before 1.23: then
    ///     Basic comes first, which programs need, while people are sent to the page.
    func add(to headers: inout HTTPFields, _ places: Places, isFirstOnly: Bool = false) {
        let ordered = isFirstOnly ? schemes.filter { $0 == .basic } + schemes.filter { $0 != .basic } : schemes
        for scheme in ordered {
            let value =
                switch scheme {
                case .basic: BasicScheme.challenge(realm: realm)
                case .form:
                    "Cookie realm=\(BasicScheme.quoted(realm)), form-action=\"\(places.signIn)\", "
                        + "cookie-name=\"\(OurCookies.sessionName)\""
                }
            headers.append(HTTPField(name: .wwwAuthenticate, value: value))
        }
    }
}
