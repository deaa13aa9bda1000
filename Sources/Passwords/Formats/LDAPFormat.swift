// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Bytes
internal import OpenSSLKit

/// The formats of the attribute userPassword in LDAP directories (RFC 2307 section 5.3, OpenLDAP's modules).
///
/// A text begins with its scheme in braces, in upper or lower case.
enum LDAPFormat: PasswordFormat {
    static let names =
        digests.keys.sorted().map { "{\($0)}" } + derivations.keys.sorted().map { "{\($0)}" } + ["{ARGON2}", "{CRYPT}"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        if let (function, isSalted) = digests[text.uppercaseName] {
            let fields = try HashFields(text.rest, of: "{\(text.uppercaseName)}", counts: 1...1)
            return try digest(fields, function: function, isSalted: isSalted)
        }
        if let function = derivations[text.uppercaseName] {
            let fields = try HashFields(text.rest, of: "{\(text.uppercaseName)}", counts: 3...3)
            return try PBKDF2Format.pbkdf2(fields, function: function, base64: .dotted)
        }
        switch text.uppercaseName {
        case "CRYPT":
            guard let crypt = try CryptFormat.crypt(String(text.rest)) else {
                throw BadHash("{CRYPT}: not a hash of a supported method of crypt(3)")
            }
            return crypt
        case "ARGON2":
            guard let argon2 = try Argon2Format.read(String(text.rest), options: options) else {
                throw BadHash("{ARGON2}: not a PHC string of Argon2")
            }
            return argon2
        case _: return nil
        }
    }

    private static let digests: [String: (HashFunction, isSalted: Bool)] = [
        "MD5": (.md5, false), "SMD5": (.md5, true), "SHA": (.sha1, false), "SSHA": (.sha1, true),
        "SHA256": (.sha256, false), "SSHA256": (.sha256, true), "SHA384": (.sha384, false), "SSHA384": (.sha384, true),
        "SHA512": (.sha512, false), "SSHA512": (.sha512, true),
    ]

    /// The schemes of OpenLDAP's pw-pbkdf2: iterations, salt and hash in passlib's variant of Base64.
    private static let derivations: [String: HashFunction] = [
        "PBKDF2": .sha1, "PBKDF2-SHA1": .sha1, "PBKDF2-SHA256": .sha256, "PBKDF2-SHA512": .sha512,
    ]

    /// Reads a digest followed by its salt.
    static func digest(
        _ fields: HashFields,
        function: HashFunction,
        isSalted: Bool,
        rounds: Int = 1
    ) throws(BadHash) -> SaltedDigest {
        guard let bytes = Base64.padded.decode(fields[0]) else { throw fields.fault("the digest is not valid Base64") }
        let count = function.byteCount
        guard bytes.count >= count else { throw fields.fault("the digest has fewer than \(count) bytes") }
        return SaltedDigest(
            function: function,
            rounds: rounds,
            salt: try fields.checked(Array(bytes[count...]), named: "salt", in: isSalted ? 1...128 : 0...0),
            storedHash: Array(bytes[..<count])
        )
    }
}
