// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
internal import OpenSSLKit
package import Sessions

/// The token in our forms, which is derived from the session's cookie: another site cannot compute it.
package enum CSRFToken {
    private static let purpose: StaticString = "gatehouse form"

    /// Returns the text for a form or the session API; nil if it cannot be computed.
    package static func text(_ token: OpaqueToken) -> String? {
        do throws(OpenSSLError) {
            return try token.proof(for: purpose).hex
        } catch {
            // Without the token there is no form, and no request that changes something.
            return nil
        }
    }

    /// Returns true if a text of a request is the token of this session; the comparison takes constant time.
    package static func isValid(_ text: UTF8Text?, for token: OpaqueToken) -> Bool {
        guard let text, let wanted = self.text(token) else { return false }
        return constantTimeEqual(text.string.utf8Span.span, wanted.utf8Span.span)
    }
}
