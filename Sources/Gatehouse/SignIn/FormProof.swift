// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Sessions

/// What a form of ours holds so that no other site can send it: only who has the session's cookie can know it.
enum FormProof {
    private static let purpose: StaticString = "gatehouse form"

    /// The text for a form or the session API; nil where it cannot be computed.
    static func text(_ token: OpaqueToken) -> String? {
        do throws(OpenSSLError) {
            return try token.proof(for: purpose).hex
        } catch {
            // Without it there is no form, and no request that changes something.
            return nil
        }
    }

    /// Whether a text that came with a request is the one of this session; the time it takes tells nothing.
    static func isRight(_ text: String?, _ token: OpaqueToken) -> Bool {
        guard let text, let wanted = self.text(token) else { return false }
        return constantTimeEqual(Array(text.utf8), Array(wanted.utf8))
    }
}
