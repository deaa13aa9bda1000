// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Passwords in clear text, with a prefix that marks them: read only with ``FormatOptions/allowsClearText``.
enum ClearFormat: PasswordFormat {
    static let names = marks.map { "{\($0)}" }

    /// The prefixes of Dovecot, LDAP and Spring.
    private static let marks = ["CLEAR", "CLEARTEXT", "PLAIN", "NOOP"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored), marks.contains(text.folded) else { return nil }
        guard options.allowsClearText else {
            throw BadHash("{\(text.folded)}: passwords in clear text are not allowed here")
        }
        guard (1...PasswordBounds.most).contains(text.rest.utf8.count) else {
            throw BadHash("{\(text.folded)}: the password is empty, or longer than \(PasswordBounds.most) bytes")
        }
        return try ClearText(text.rest)
    }
}
