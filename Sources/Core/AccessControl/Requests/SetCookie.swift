// SPDX-License-Identifier: Apache-2.0

package import Sessions

/// The values of `Set-Cookie` fields.
///
/// Most cookies have no `Max-Age`, so a browser deletes them when it is closed. They have no `Domain`, so a browser
/// does not send them to other hosts. Their names begin with `__Host-`, so a browser accepts them only from the same
/// host over TLS. Source: RFC 6265bis section 4.1.3.
package enum SetCookie {
    /// Sets the cookie that a sign-in is bound to, in place of all cookies of its name; browsers send it only with
    /// requests from the same site.
    package static func signIn(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.signInName, present)
            + ["\(OurCookies.signInName)=\(token.text)\(common)\(strict)"]
    }

    /// Sets the cookie that a hand-over is bound to; browsers also send it after a redirect from the sign-in host,
    /// which may be another site.
    ///
    /// It is one field, because some proxies pass on only one (``partitionedVerifierRemoval(_:)``).
    package static func verifier(_ token: OpaqueToken) -> String {
        "\(OurCookies.verifierName)=\(token.text)\(common)\(lax); Max-Age=3600"
    }

    /// Sets the session cookie in place of all cookies of its name; browsers also send it when a user follows a link
    /// from another site.
    ///
    /// A script of the host can set a partitioned cookie of this name (CHIPS). A browser with both sends both, and no
    /// session is found. So a partitioned cookie is removed if the browser has sent any cookie of this name.
    package static func session(_ token: OpaqueToken, replacing present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present) + ["\(OurCookies.sessionName)=\(token.text)\(common)\(lax)"]
    }

    package static func sessionRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.sessionName, present)
            + ["\(OurCookies.sessionName)=\(common)\(lax); Max-Age=0"]
    }

    private static func partitionedRemoval(_ name: StaticString, _ present: OurCookies.Found) -> [String] {
        if case .none = present { return [] }
        return ["\(name)=\(common); SameSite=None; Partitioned; Max-Age=0"]
    }

    package static let signInRemoval = "\(OurCookies.signInName)=\(common)\(strict); Max-Age=0"

    package static func partitionedVerifierRemoval(_ present: OurCookies.Found) -> [String] {
        partitionedRemoval(OurCookies.verifierName, present)
    }

    package static let verifierRemoval = "\(OurCookies.verifierName)=\(common)\(lax); Max-Age=0"

    private static let common = "; Path=/; Secure; HttpOnly"
    private static let lax = "; SameSite=Lax"
    private static let strict = "; SameSite=Strict"
}
