// SPDX-License-Identifier: Apache-2.0

package import Bytes
internal import OpenSSLKit
package import Sessions

/// The CSRF token of a session, for forms and the session API.
///
/// The CSRF token is derived from the session cookie, so another site cannot compute the token.
package enum CSRFToken {
    private static let purpose: StaticString = "gatehouse form"

    /// Returns the CSRF token of a session; nil if it cannot be computed.
    package static func text(_ token: OpaqueToken) -> String? {
        do throws(OpenSSLError) {
            return try token.proof(for: purpose).hex
        } catch {
            // Without a CSRF token the page has no form, and the server rejects requests that change something.
            return nil
        }
    }

    /// Returns true if a text is the CSRF token of a session.
    ///
    /// The comparison takes constant time.
    package static func isValid(_ text: UTF8Text?, for token: OpaqueToken) -> Bool {
        guard let text, let expected = self.text(token) else { return false }
        return constantTimeEqual(text.string.utf8Span.span, expected.utf8Span.span)
    }
}
