// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit

/// What directories keep in userPassword, RFC 2307 section 5.3 and OpenLDAP's modules: the scheme in braces, in any case.
enum LDAPFormat: PasswordFormat {
    static let names =
        digests.keys.sorted().map { "{\($0)}" } + derivations.keys.sorted().map { "{\($0)}" } + ["{ARGON2}", "{CRYPT}"]

    static func read(_ stored: String, _ options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        if let (function, isSalted) = digests[text.folded] {
            let fields = try HashFields(text.rest, of: "{\(text.folded)}", counts: 1...1)
            return try digest(fields, function, isSalted: isSalted)
        }
        if let function = derivations[text.folded] {
            let fields = try HashFields(text.rest, of: "{\(text.folded)}", counts: 3...3)
            return try PBKDF2Format.pbkdf2(fields, function, .dotted)
        }
        switch text.folded {
        case "CRYPT":
            guard let crypt = try CryptFormat.crypt(String(text.rest)) else {
                throw BadHash("{CRYPT}: no hash of a method of crypt(3) that is known here")
            }
            return crypt
        case "ARGON2":
            guard let argon2 = try Argon2Format.read(String(text.rest), options) else {
                throw BadHash("{ARGON2}: no PHC string of Argon2")
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

    /// OpenLDAP's pw-pbkdf2: iterations, salt and hash, in passlib's Base64.
    private static let derivations: [String: HashFunction] = [
        "PBKDF2": .sha1, "PBKDF2-SHA1": .sha1, "PBKDF2-SHA256": .sha256, "PBKDF2-SHA512": .sha512,
    ]

    /// Reads a digest with the salt behind it.
    static func digest(
        _ fields: HashFields,
        _ function: HashFunction,
        isSalted: Bool,
        rounds: Int = 1
    ) throws(BadHash) -> SaltedDigest {
        guard let bytes = Base64.padded.decode(fields[0]) else { throw fields.fault("not in Base64") }
        let count = function.byteCount
        guard bytes.count >= count else { throw fields.fault("the digest has fewer than \(count) bytes") }
        return SaltedDigest(
            function: function,
            rounds: rounds,
            salt: try fields.checked(Array(bytes[count...]), "salt", in: isSalted ? 1...128 : 0...0),
            expected: Array(bytes[..<count])
        )
    }
}
