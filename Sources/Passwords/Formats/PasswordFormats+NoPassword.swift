// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes

extension PasswordFormats {
    /// Returns whether a stored text is a mark for a user without a password, and not a hash.
    ///
    /// Such a user cannot sign in by password, and the text is no error. The marks are:
    ///
    /// - an empty text;
    /// - a text that begins with `!`, also before a hash: shadow(5), Django;
    /// - a text that begins with `*`, such as `*`, `*LK*` and `*LOCKED*` of shadow(5), also before a hash; but not the
    ///   `*` and 40 hexadecimal digits of MySQL, which are a hash;
    /// - `x` and `NP` of passwd(5) and shadow(5), `LK`, `UP`, `Nologin`, and GlassFish's `RESET`;
    /// - a mark behind the name of a scheme, such as `{SSHA}!` and `{CRYPT}x`;
    /// - the schemes `{NOLOGIN}`, `{NOPASSWORD}`, `{DISABLED}`, `{LOCKED}` and `{NONE}`.
    ///
    /// A text in clear text, without the name of a scheme, must not be passed: a password may be `x` or begin with `!`.
    ///
    /// - Parameter stored: The stored text.
    /// - Returns: True if it is a mark.
    public static func isNoPassword(_ stored: some StringProtocol) -> Bool {
        switch stored.utf8.first {
        case nil, UInt8(ascii: "!"): true
        case UInt8(ascii: "*"):
            stored.utf8.count != 41 || !stored.utf8.dropFirst().allSatisfy { Hexadecimal.value(of: $0) != nil }
        case UInt8(ascii: "{"):
            if let text = SchemeText(String(stored)) {
                unusableSchemes.contains(text.uppercaseName)
                    || text.uppercaseName.hasSuffix("CRYPT") && isNoPassword(text.rest)
                    || !clearTextSchemes.contains(text.uppercaseName) && "!*".utf8.contains(text.rest.utf8.first ?? 0)
            } else {
                false
            }
        case _: marks.contains { $0.elementsEqual(stored.utf8) }
        }
    }

    private static let marks = ["x", "NP", "LK", "UP", "Nologin", "RESET"].map { Array($0.utf8) }
    private static let unusableSchemes = ["NOLOGIN", "NOPASSWORD", "DISABLED", "LOCKED", "NONE"]
}
