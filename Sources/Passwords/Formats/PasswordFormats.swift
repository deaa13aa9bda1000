// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A format of stored password hashes.
protocol PasswordFormat: Sendable {
    /// The names of the hashes that it reads, as in `argon2id`.
    static var names: [String] { get }

    /// Reads a stored text.
    ///
    /// - Parameters:
    ///   - stored: The text, without blanks at its ends.
    ///   - options: The rules of the place that stores it.
    /// - Returns: The algorithm with its parameters; nil if the text is of another format.
    /// - Throws: ``BadHash`` if a text of this format is malformed, or its cost is out of bounds.
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)?
}

/// The rules for reading stored passwords of one place: the format of an ambiguous name, and whether clear text is
/// allowed.
public struct FormatOptions: Sendable, Hashable {
    /// True if `{SSHA256}` is GlassFish's of 100 rounds, as in its key files, rather than LDAP's of one.
    public var isGlassFish = false
    /// True if passwords may stand in clear text.
    public var allowsClearText = false

    /// LDAP's reading, no clear text.
    public init() {}
}

/// All formats of password hashes that this library reads.
public enum PasswordFormats {
    private static let all: [any PasswordFormat.Type] = [
        Argon2Format.self, CryptFormat.self, ScryptFormat.self, PBKDF2Format.self, DigestedBcryptFormat.self,
        // Some names of the first three stand for several formats; each of the three tests whether a text is its own.
        GlassFishFormat.self, SpringFormat.self, LDAPFormat.self, ClearFormat.self,
        DjangoFormat.self, WerkzeugFormat.self, ApacheFormat.self,
    ]
    /// The longest text that is read, in bytes.
    private static let mostBytes = 2048

    /// The names of all formats, as in `argon2id`.
    public static var names: [String] { all.flatMap { $0.names } }

    /// Reads a stored password.
    ///
    /// - Parameters:
    ///   - stored: The stored text.
    ///   - options: The rules of the place that stores it.
    /// - Returns: The hash.
    /// - Throws: ``BadHash`` if the format is unknown, the text is malformed, or a check would be too costly.
    public static func read(_ stored: String, options: FormatOptions = .init()) throws(BadHash) -> any PasswordHash {
        guard stored.utf8.count <= mostBytes, stored.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else {
            throw BadHash("the password is longer than \(mostBytes) bytes, or has control characters")
        }
        for format in all {
            if let algorithm = try format.read(stored, options: options) { return StoredHash(algorithm: algorithm) }
        }
        if let name = SchemeText(stored)?.name { throw BadHash("the scheme {\(name)} is not supported") }
        throw BadHash("the format of the password is not supported")
    }
}
