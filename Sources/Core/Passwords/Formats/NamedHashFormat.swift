// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// A name in braces before a hash that names its format itself, such as `{SHA512-CRYPT}$6$salt$hash`.
///
/// Dovecot, Authelia, Spring Security and directories write such names, in upper or lower case. The hash determines the
/// format, and a name that contradicts it is an error.
enum NamedHashFormat: PasswordFormat {
    static let names = schemes.map { "{\($0.name)}" }

    /// The names, and the formats of the hashes behind them.
    ///
    /// Every format may stand behind `{CRYPT}`: Authelia wrote it before Argon2, too.
    private static let schemes: [(name: String, formats: [String])] = [
        ("CRYPT", []), ("SHA512-CRYPT", ["sha512crypt"]), ("SHA256-CRYPT", ["sha256crypt"]),
        ("MD5-CRYPT", ["md5crypt"]), ("DES-CRYPT", ["descrypt"]), ("BLF-CRYPT", ["bcrypt"]), ("BCRYPT", ["bcrypt"]),
        ("ARGON2", Argon2Format.names), ("ARGON2ID", ["argon2id"]), ("ARGON2I", ["argon2i"]),
        ("ARGON2@SPRINGSECURITY_V5_8", Argon2Format.names),
    ]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        var name = text.uppercaseName
        if text.rest.hasPrefix("$1$") {
            if name == "PBKDF2" { return try dovecotPBKDF2(text.rest.dropFirst(3)) }
            // Dovecot's older name of MD5-CRYPT.
            if name == "MD5" { name = "MD5-CRYPT" }
        }
        guard let formats = schemes.first(where: { $0.name == name })?.formats else { return nil }
        for format in PasswordFormats.afterDollar {
            guard let algorithm = try format.read(String(text.rest), options: options) else { continue }
            let actual = algorithm.cost.format
            guard formats.isEmpty || formats.contains(actual) else {
                throw BadHash(
                    "{\(name)}: the hash behind the name is \(actual); if the hash is right, remove {\(name)}"
                )
            }
            return algorithm
        }
        let expected = formats.isEmpty ? "crypt(3) or Argon2" : formats.joined(separator: " or ")
        throw BadHash("{\(name)}: there is no hash of \(expected) behind the name")
    }

    /// Reads Dovecot's PBKDF2 with SHA-1: the text of the salt, the iterations, and the key in hexadecimal digits.
    private static func dovecotPBKDF2(_ rest: Substring) throws(BadHash) -> PBKDF2 {
        let fields = try HashFields(rest, of: "{PBKDF2}", counts: 3...3)
        guard let key = Hexadecimal.decodeLowercase(fields[2]) else { throw fields.fault("the key is not hexadecimal") }
        return PBKDF2(
            function: .sha1,
            iterations: try fields.number(
                fields[1],
                named: "the number of iterations",
                in: 1...PBKDF2.maximumIterations
            ),
            salt: try fields.checked(Array(fields[0].utf8), named: "salt", in: 1...128),
            storedHash: try fields.checked(key, named: "key", in: 20...20)
        )
    }
}
