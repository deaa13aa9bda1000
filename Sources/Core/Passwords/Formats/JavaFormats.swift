// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The formats of Spring Security's PasswordEncoderFactories: the encoder's name in braces, then its text.
///
/// ``NamedHashFormat`` reads `{bcrypt}` and `{argon2}`. The text after a name that LDAP has too determines the format.
enum SpringFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        switch text.name {
        case "scrypt", "scrypt@SpringSecurity_v5_8": return try scrypt(text)
        // OpenLDAP's {PBKDF2} contains dollar signs, and Spring's {pbkdf2} does not.
        case "pbkdf2" where !text.rest.contains("$"):
            return try pbkdf2(text, function: .sha1, iterations: 185_000, salt: 8)
        case "pbkdf2@SpringSecurity_v5_8": return try pbkdf2(text, function: .sha256, iterations: 310_000, salt: 16)
        // Spring's {sha256} has 80 hexadecimal digits. LDAP's {SHA256} has 44 characters of Base64.
        case "sha256" where text.rest.utf8.count == 80: return try standard(text)
        case "MD5" where text.rest.hasPrefix("{") || text.rest.utf8.count == 32: return try digest(text, function: .md5)
        case "SHA-1": return try digest(text, function: .sha1)
        case "SHA-256": return try digest(text, function: .sha256)
        case "ldap":
            let rest = String(text.rest)
            if let algorithm = try NamedHashFormat.read(rest, options: options) { return algorithm }
            guard let algorithm = try LDAPFormat.read(rest, options: FormatOptions()) else {
                throw BadHash("{ldap}: not a password of an LDAP directory")
            }
            return algorithm
        case "MD4": throw BadHash("{MD4}: not supported; set a new password")
        case _: return nil
        }
    }

    /// Pbkdf2PasswordEncoder without an application secret: salt and hash in hexadecimal digits.
    ///
    /// The text has no number of iterations: `iterations` is the default of the encoder's version.
    private static func pbkdf2(
        _ text: SchemeText,
        function: HashFunction,
        iterations: Int,
        salt: Int
    ) throws(BadHash) -> PBKDF2 {
        let fields = try HashFields(text.rest, of: "{\(text.name)}", counts: 1...1)
        let count = salt + 32
        let bytes = try fields.hexadecimal(fields[0], named: "salt with the hash", in: count...count)
        let (salt, key) = (Array(bytes[..<salt]), Array(bytes[salt...]))
        return PBKDF2(function: function, iterations: iterations, salt: salt, storedHash: key)
    }

    /// SCryptPasswordEncoder: parameters in hexadecimal digits, salt, hash.
    private static func scrypt(_ text: SchemeText) throws(BadHash) -> Scrypt {
        let fields = try HashFields(text.rest, of: "{\(text.name)}", counts: 4...4)
        guard fields[0].isEmpty, (4...6).contains(fields[1].utf8.count),
            fields[1].utf8.allSatisfy(Array("0123456789abcdef".utf8).contains), let number = Int(fields[1], radix: 16)
        else { throw fields.fault("the parameters cannot be read") }
        return Scrypt(
            parameters: try ScryptFormat.parameters(fields, logN: number >> 16, r: number >> 8 & 255, p: number & 255),
            salt: try fields.bytes(fields[2], named: "salt", base64: .padded, in: 1...128),
            storedHash: try ScryptFormat.key(fields, of: fields[3], base64: .padded)
        )
    }

    /// StandardPasswordEncoder: 8 bytes of salt, then 1024 rounds of SHA-256, the first over salt and password.
    private static func standard(_ text: SchemeText) throws(BadHash) -> SaltedDigest {
        let fields = try HashFields(text.rest, of: "{sha256}", counts: 1...1)
        let bytes = try fields.hexadecimal(fields[0], named: "salt with the hash", in: 40...40)
        let (salt, digest) = (Array(bytes[..<8]), Array(bytes[8...]))
        return SaltedDigest(function: .sha256, rounds: 1024, saltFirst: true, salt: salt, storedHash: digest)
    }

    /// MessageDigestPasswordEncoder: the salt in braces, then the digest of the password and the salt with its braces.
    private static func digest(_ text: SchemeText, function: HashFunction) throws(BadHash) -> SaltedDigest {
        let fields = try HashFields(text.rest, of: "{\(text.name)}", counts: 1...1)
        var (salt, hash): (Substring, Substring) = ("", fields[0])
        if hash.hasPrefix("{") {
            guard let end = hash.firstIndex(of: "}") else { throw fields.fault("the salt has no closing brace") }
            (salt, hash) = (hash[...end], hash[hash.index(after: end)...])
        }
        let count = function.byteCount
        return SaltedDigest(
            function: function,
            salt: try fields.checked(Array(salt.utf8), named: "salt", in: 0...128),
            storedHash: try fields.hexadecimal(hash, named: "digest", in: count...count)
        )
    }
}

/// The stored credentials of Tomcat's `MessageDigestCredentialHandler` and `SecretKeyCredentialHandler`.
///
/// Tomcat stores `salt$iterations$hash` in hexadecimal digits, and has the algorithm in its configuration. Here it is a
/// scheme: `{TOMCAT-SHA-256}` for a digest, first of the salt and the password and then of its own result, and
/// `{TOMCAT-PBKDF2-SHA256}` for PBKDF2 with a key of 16 bytes up to the length of a digest. Source:
/// `DigestCredentialHandlerBase`, `ConcurrentMessageDigest` and `SecretKeyCredentialHandler` of Tomcat 9 to 11.
enum TomcatFormat: PasswordFormat {
    private static let digests: [String: HashFunction] = [
        "TOMCAT-MD5": .md5, "TOMCAT-SHA-1": .sha1, "TOMCAT-SHA-256": .sha256, "TOMCAT-SHA-384": .sha384,
        "TOMCAT-SHA-512": .sha512,
    ]
    private static let keys: [String: HashFunction] = [
        "TOMCAT-PBKDF2-SHA1": .sha1, "TOMCAT-PBKDF2-SHA256": .sha256, "TOMCAT-PBKDF2-SHA384": .sha384,
        "TOMCAT-PBKDF2-SHA512": .sha512,
    ]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        let name = text.uppercaseName
        guard let function = digests[name] ?? keys[name] else { return nil }
        let fields = try HashFields(text.rest, of: "{\(name)}", counts: 3...3)
        let count = function.byteCount
        guard digests[name] != nil else {
            return PBKDF2(
                function: function,
                iterations: try fields.iterations(fields[1]),
                salt: try fields.hexadecimal(fields[0], named: "salt", in: 1...128),
                // At least 128 bits.
                storedHash: try fields.hexadecimal(fields[2], named: "key", in: 16...count)
            )
        }
        return SaltedDigest(
            function: function,
            rounds: try fields.iterations(fields[1], maximum: CostBounds.maximumDigestRounds),
            saltFirst: true,
            salt: try fields.hexadecimal(fields[0], named: "salt", in: 0...128),
            storedHash: try fields.hexadecimal(fields[2], named: "digest", in: count...count)
        )
    }
}
