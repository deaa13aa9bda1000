// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The formats of the attribute userPassword in LDAP directories (RFC 2307 section 5.3, OpenLDAP's modules).
///
/// A text begins with its scheme in braces, in upper or lower case.
enum LDAPFormat: PasswordFormat {
    static let names =
        (digests.keys.sorted() + derivations.keys.sorted()).map { "{\($0)}" }

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
        return nil
    }

    /// The digests; Dovecot writes the unsalted ones in hexadecimal digits, too, and has more names for two of them.
    static let digests: [String: (HashFunction, isSalted: Bool)] = [
        "MD5": (.md5, false), "SMD5": (.md5, true), "SHA": (.sha1, false), "SSHA": (.sha1, true),
        "SHA256": (.sha256, false), "SSHA256": (.sha256, true), "SHA384": (.sha384, false), "SSHA384": (.sha384, true),
        "SHA512": (.sha512, false), "SSHA512": (.sha512, true), "SHA1": (.sha1, false), "PLAIN-MD5": (.md5, false),
        "LDAP-MD5": (.md5, false),
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
        let count = function.byteCount
        let isHexadecimal = !isSalted && fields[0].utf8.count == 2 * count
        let decoded = isHexadecimal ? DigestColumn.hexadecimal(fields[0]) : Base64.padded.decode(fields[0])
        guard let bytes = decoded else {
            throw fields.fault("the digest is not valid \(isHexadecimal ? "hexadecimal" : "Base64")")
        }
        guard bytes.count >= count else { throw fields.fault("the digest has fewer than \(count) bytes") }
        return SaltedDigest(
            function: function,
            rounds: rounds,
            salt: try fields.checked(Array(bytes[count...]), named: "salt", in: isSalted ? 1...128 : 0...0),
            storedHash: Array(bytes[..<count])
        )
    }
}
