// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// A format of stored password hashes.
protocol PasswordFormat: Sendable {
    /// Reads a stored text without leading and trailing blanks; nil for another format.
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)?
}

/// The options for reading stored passwords.
public struct FormatOptions: Sendable, Hashable {
    /// True if `{SSHA256}` means GlassFish's format with 100 rounds, and not LDAP's with one round.
    public var isGlassFish = false
    /// True if passwords in clear text are accepted.
    public var allowsClearText = false
    /// True if the part of a password that the format ignores is ignored here, too, as in the system that has written the
    /// hash.
    ///
    /// Otherwise such a password is rejected. It is for realms that then replace the hash: see ``HashPolicy/covers(_:)``.
    public var acceptsTruncated = false

    /// Creates the default options: `{SSHA256}` is LDAP's format, and clear text and truncated passwords are rejected.
    public init() {}
}

/// All formats of password hashes that this library reads.
public enum PasswordFormats {
    /// The formats whose texts begin with `$`.
    static let afterDollar: [any PasswordFormat.Type] = [
        Argon2Format.self, CryptFormat.self, ScryptFormat.self, PBKDF2Format.self, PrehashedBcryptFormat.self,
        ApacheMD5Format.self, PhpassFormat.self,
    ]
    /// The formats whose texts begin with `{`; the first three have names in common, and leave each other's texts.
    private static let inBraces: [any PasswordFormat.Type] = [
        SpringFormat.self, NamedHashFormat.self, LDAPFormat.self, ClearTextFormat.self, TomcatFormat.self,
    ]
    /// The formats of all other texts.
    private static let unmarked: [any PasswordFormat.Type] = [CryptFormat.self, DjangoFormat.self, WerkzeugFormat.self]
    /// The texts, and the schemes, of users without a password.
    private static let marks = ["x", "NP", "LK", "UP", "Nologin", "RESET"].map { Array($0.utf8) }
    private static let unusableSchemes = ["NOLOGIN", "NOPASSWORD", "DISABLED", "LOCKED", "NONE"]
    /// The schemes of clear text that Dovecot, LDAP and Spring Security use.
    static let clearTextSchemes = ["CLEAR", "CLEARTEXT", "PLAIN", "NOOP"]
    /// In bytes.
    private static let maximumLength = 2048

    /// Reads a stored password.
    ///
    /// - Throws: ``BadHash`` if the format is unknown, the text is malformed, or a check would be too costly.
    public static func read(_ stored: String, options: FormatOptions = .init()) throws(BadHash) -> PasswordHash {
        guard stored.utf8.count <= maximumLength, stored.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw BadHash("the stored password is longer than \(maximumLength) bytes, or contains control characters")
        }
        if let decoded = try SchemeText(stored)?.decoded() { return try read(decoded, options: options) }
        let formats =
            switch stored.utf8.first {
            case UInt8(ascii: "$"): afterDollar
            case UInt8(ascii: "{"): inBraces
            case _: unmarked
            }
        for format in formats {
            if let algorithm = try format.read(stored, options: options) {
                return PasswordHash(algorithm: options.acceptsTruncated ? algorithm.truncating : algorithm)
            }
        }
        guard !isNoPassword(stored) else { throw BadHash("the text means that the user has no password") }
        if let name = SchemeText(stored)?.name { throw BadHash("the scheme {\(name)} is not supported") }
        let isText = !stored.utf8.contains { "${}:".utf8.contains($0) } && stored.utf8.count < 40
        let advice = isText ? "; if it is a password in clear text, replace it by the output of gatehouse hash" : ""
        throw BadHash("the format of the stored password is not supported\(advice)")
    }

    /// Returns whether a stored text means that the user has no password, and is no hash.
    ///
    /// Such texts are an empty one; one that begins with `!` or `*`, also before a hash, but not a hash of MySQL; `x`,
    /// `NP`, `LK`, `UP`, `Nologin` and `RESET`; a text such as `{SSHA}!` or `{CRYPT}x`; and the schemes `{NOLOGIN}`,
    /// `{NOPASSWORD}`, `{DISABLED}`, `{LOCKED}` and `{NONE}`. Sources: passwd(5), shadow(5), Django, GlassFish.
    ///
    /// A password in clear text without the name of a scheme must not be passed: it may be `x` or begin with `!`.
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
}
