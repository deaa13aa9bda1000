// SPDX-License-Identifier: Apache-2.0

/// Passwords in clear text after a prefix such as `{CLEAR}`.
///
/// They are read only if ``FormatOptions/allowsClearText`` is set.
enum ClearTextFormat: PasswordFormat {
    static let names = PasswordFormats.clearTextSchemes.map { "{\($0)}" }

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored), PasswordFormats.clearTextSchemes.contains(text.uppercaseName) else {
            return nil
        }
        guard options.allowsClearText else {
            throw BadHash("{\(text.uppercaseName)}: passwords in clear text are not allowed here")
        }
        guard (1...PasswordBounds.maximumLength).contains(text.rest.utf8.count) else {
            throw BadHash(
                "{\(text.uppercaseName)}: the password is empty, or longer than \(PasswordBounds.maximumLength) bytes"
            )
        }
        return try ClearText(text.rest)
    }
}
