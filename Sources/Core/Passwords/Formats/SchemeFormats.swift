// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// A stored text that begins with the name of its scheme in braces, such as `{SSHA}...`.
struct SchemeText {
    let name: Substring
    let rest: Substring

    /// The case of the name does not matter in LDAP (RFC 3112 section 2).
    var uppercaseName: String { name.uppercased() }

    /// Splits a text that begins with a name of at most 40 letters, digits and characters of `-_@.` in braces.
    init?(_ stored: String) {
        guard stored.utf8.first == UInt8(ascii: "{"), let end = stored.utf8.prefix(42).firstIndex(of: UInt8(ascii: "}"))
        else { return nil }
        name = stored[stored.index(after: stored.startIndex)..<end]
        rest = stored[stored.index(after: end)...]
        guard !name.isEmpty,
            name.utf8.allSatisfy({
                ASCII.isDigit($0) || (0x61...0x7A).contains($0 | 0x20) || "-_@.".utf8.contains($0)
            })
        else { return nil }
    }

    /// Returns the text without Dovecot's `.HEX`, `.B64` or `.BASE64` after the name, which encodes the rest; else nil.
    func decoded() throws(BadHash) -> String? {
        guard let dot = name.lastIndex(of: ".") else { return nil }
        let (scheme, bytes): (Substring, [UInt8]?)
        switch name[dot...].uppercased() {
        case ".HEX": (scheme, bytes) = (name[..<dot], Hexadecimal.decode(rest))
        case ".B64", ".BASE64": (scheme, bytes) = (name[..<dot], Base64.padded.decode(rest))
        case _: return nil
        }
        let isDigest = LDAPFormat.digests[scheme.uppercased()] != nil
        guard let bytes,
            let text = isDigest ? Base64.padded.encode(bytes.span) : String(validating: bytes, as: UTF8.self)
        else { throw BadHash("{\(name)}: the text behind the name does not have this encoding") }
        return "{\(scheme)}\(text)"
    }
}

/// A name in braces before a hash that names its format itself, such as `{SHA512-CRYPT}$6$salt$hash`.
///
/// Dovecot, Authelia, Spring Security and directories write such names. A name that contradicts the hash is an error.
enum NamedHashFormat: PasswordFormat {
    private static let argon2 = Argon2.Kind.allCases.map(\.rawValue)

    /// The formats of the hashes behind each name; any behind `{CRYPT}`, as Authelia wrote it before Argon2, too.
    private static let schemes: [(name: String, formats: [String])] = [
        ("CRYPT", []), ("SHA512-CRYPT", ["sha512crypt"]), ("SHA256-CRYPT", ["sha256crypt"]),
        ("MD5-CRYPT", ["md5crypt"]), ("DES-CRYPT", ["descrypt"]), ("BLF-CRYPT", ["bcrypt"]), ("BCRYPT", ["bcrypt"]),
        ("ARGON2", argon2), ("ARGON2ID", ["argon2id"]), ("ARGON2I", ["argon2i"]),
        ("ARGON2@SPRINGSECURITY_V5_8", argon2),
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
        return PBKDF2(
            function: .sha1,
            iterations: try fields.iterations(fields[1]),
            salt: try fields.checked(Array(fields[0].utf8), named: "salt", in: 1...128),
            storedHash: try fields.hexadecimal(fields[2], named: "key", in: 20...20)
        )
    }
}

/// The formats of userPassword in LDAP directories (RFC 2307 section 5.3, OpenLDAP's modules), in upper or lower case.
///
/// `{GF-SSHA256}` is GlassFish's `{SSHA256}`, with 100 rounds, the first over password and salt; with
/// ``FormatOptions/isGlassFish``, `{SSHA256}` is it, too. `{SSHA}` means the same in GlassFish and LDAP.
enum LDAPFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        let name = text.uppercaseName
        let isGlassFish = name == "GF-SSHA256" || options.isGlassFish && name == "SSHA256"
        if let (function, isSalted) = isGlassFish ? (.sha256, true) : digests[name] {
            let fields = try HashFields(text.rest, of: "{\(name)}", counts: 1...1)
            return try digest(fields, function: function, isSalted: isSalted, rounds: isGlassFish ? 100 : 1)
        }
        guard let function = derivations[name] else { return nil }
        let fields = try HashFields(text.rest, of: "{\(name)}", counts: 3...3)
        return try PBKDF2Format.pbkdf2(fields, function: function, base64: .dotted)
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

    private static func digest(
        _ fields: HashFields,
        function: HashFunction,
        isSalted: Bool,
        rounds: Int
    ) throws(BadHash) -> SaltedDigest {
        let count = function.byteCount
        let isHexadecimal = !isSalted && fields[0].utf8.count == 2 * count
        let decoded = isHexadecimal ? Hexadecimal.decode(fields[0]) : Base64.padded.decode(fields[0])
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

/// Stored passwords of GlassFish's key files, where `{SSHA256}` is GlassFish's format.
package enum GlassFishPassword {
    /// Returns the text that means the same without ``FormatOptions/isGlassFish``: `{GF-SSHA256}` for `{SSHA256}`.
    package static func portable(_ stored: String) -> String {
        SchemeText(stored)?.uppercaseName == "SSHA256" ? "{GF-SSHA256}" + stored.dropFirst("{SSHA256}".count) : stored
    }
}

/// Passwords in clear text after a prefix such as `{CLEAR}`, read only if ``FormatOptions/allowsClearText`` is set.
enum ClearTextFormat: PasswordFormat {
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
        return try SaltedDigest.clearText(text.rest)
    }
}
