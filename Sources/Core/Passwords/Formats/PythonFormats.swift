// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The hashes of Django, which begin with the name of the algorithm, without a dollar sign before it.
enum DjangoFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let end = stored.firstIndex(of: "$") else { return nil }
        let rest = stored[stored.index(after: end)...]
        switch stored[..<end] {
        case "pbkdf2_sha256": return try pbkdf2(rest, function: .sha256)
        case "pbkdf2_sha1": return try pbkdf2(rest, function: .sha1)
        case "scrypt": return try scrypt(rest)
        case "argon2":
            guard let argon2 = try Argon2Format.read("$" + rest, options: options) else {
                throw BadHash("argon2: not a PHC string of Argon2")
            }
            return argon2
        case "bcrypt":
            guard rest.hasPrefix("$2"), let crypt = try CryptFormat.crypt(String(rest)) else {
                throw BadHash("bcrypt: not a bcrypt hash")
            }
            return crypt
        case "bcrypt_sha256": return try PrehashedBcryptFormat.algorithm(String(rest), prehash: .hexadecimal)
        case _: return nil
        }
    }

    private static func pbkdf2(_ rest: Substring, function: HashFunction) throws(BadHash) -> PBKDF2 {
        let fields = try HashFields(rest, of: "pbkdf2_\(function.name)", counts: 3...3)
        return PBKDF2(
            function: function,
            iterations: try fields.iterations(fields[0]),
            // The salt is not encoded: the bytes of the text are the salt.
            salt: try fields.checked(Array(fields[1].utf8), named: "salt", in: 1...128),
            storedHash: try fields.bytes(
                fields[2],
                named: "hash",
                base64: .padded,
                in: function.byteCount...function.byteCount
            )
        )
    }

    private static func scrypt(_ rest: Substring) throws(BadHash) -> Scrypt {
        let fields = try HashFields(rest, of: "scrypt", counts: 5...5)
        return Scrypt(
            parameters: try ScryptFormat.parameters(fields, n: fields[0], r: fields[2], p: fields[3]),
            salt: try fields.checked(Array(fields[1].utf8), named: "salt", in: 1...128),
            storedHash: try fields.bytes(fields[4], named: "hash", base64: .padded, in: 64...64)
        )
    }
}

/// The hashes of Werkzeug, which Flask uses: `scrypt:32768:8:1$salt$hex` and `pbkdf2:sha256:600000$salt$hex`.
enum WerkzeugFormat: PasswordFormat {
    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("scrypt:") || stored.hasPrefix("pbkdf2:") else { return nil }
        let fields = try HashFields(stored, of: String(stored.prefix { $0 != ":" }), counts: 3...3)
        let method = fields[0].split(separator: ":", omittingEmptySubsequences: false)
        // The salt is not encoded: the bytes of the text are the salt.
        let salt = try fields.checked(Array(fields[1].utf8), named: "salt", in: 1...128)
        if method[0] == "scrypt", method.count == 4 {
            return Scrypt(
                parameters: try ScryptFormat.parameters(fields, n: method[1], r: method[2], p: method[3]),
                salt: salt,
                storedHash: try fields.hexadecimal(fields[2], named: "hash", in: 64...64)
            )
        }
        guard method[0] == "pbkdf2", method.count == 3,
            let function = HashFunction.allCases.first(where: { $0.name == method[1] && $0 != .md5 })
        else { throw fields.fault("the method cannot be read") }
        let count = function.byteCount
        return PBKDF2(
            function: function,
            iterations: try fields.iterations(method[2]),
            salt: salt,
            storedHash: try fields.hexadecimal(fields[2], named: "hash", in: count...count)
        )
    }
}
