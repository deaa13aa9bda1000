// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// One way of writing down a password's hash.
protocol PasswordFormat: Sendable {
    /// The names of hashes it reads, as in `argon2id`.
    static var names: [String] { get }

    /// Reads a stored text; nil if it is of another format.
    ///
    /// - Parameters:
    ///   - stored: The text, without blanks at its ends.
    ///   - options: What the place it comes from allows.
    /// - Returns: The hash; nil if the text is of another format.
    /// - Throws: ``BadHash`` for one of this format that is broken, or whose cost is out of bounds.
    static func read(_ stored: String, _ options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)?
}

/// What the place a stored text comes from says about it.
public struct FormatOptions: Sendable, Hashable {
    /// Whether `{SSHA256}` is GlassFish's of 100 rounds, as in its key files, rather than LDAP's of one.
    public var isGlassFish = false
    /// Whether passwords may stand in clear text.
    public var allowsClearText = false

    /// LDAP's reading, no clear text.
    public init() {}
}

/// All formats of password hashes known here.
public enum PasswordFormats {
    private static let all: [any PasswordFormat.Type] = [
        Argon2Format.self, CryptFormat.self, ScryptFormat.self, PBKDF2Format.self, DigestedBcryptFormat.self,
        // The names of the first three mean several things, and each looks whether it is its own.
        GlassFishFormat.self, SpringFormat.self, LDAPFormat.self, ClearFormat.self,
        DjangoFormat.self, WerkzeugFormat.self, ApacheFormat.self,
    ]
    /// The longest text that is looked at.
    private static let mostBytes = 2048

    /// The names of all formats, as in `argon2id`.
    public static var names: [String] { all.flatMap { $0.names } }

    /// Reads a stored password.
    ///
    /// - Parameters:
    ///   - stored: The stored text.
    ///   - options: What the place it comes from says about it.
    /// - Returns: The hash.
    /// - Throws: ``BadHash`` if it is of no known format, broken, or so costly that no check should be tried.
    public static func read(_ stored: String, _ options: FormatOptions = .init()) throws(BadHash) -> any PasswordHash {
        guard stored.utf8.count <= mostBytes, stored.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw BadHash("the password is longer than \(mostBytes) bytes, or has control characters")
        }
        for format in all {
            if let algorithm = try format.read(stored, options) { return StoredHash(algorithm: algorithm) }
        }
        if let name = SchemeText(stored)?.name { throw BadHash("the scheme {\(name)} is not known here") }
        throw BadHash("the password is in no format known here")
    }
}
