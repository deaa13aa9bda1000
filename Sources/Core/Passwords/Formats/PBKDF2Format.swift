// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// passlib's format of PBKDF2, such as `$pbkdf2-sha256$29000$salt$hash`.
///
/// Its Base64 has a dot instead of the plus sign.
enum PBKDF2Format: PasswordFormat {
    static let names = functions.map(\.name)

    private static let functions: [(name: String, function: HashFunction)] = [
        ("pbkdf2", .sha1), ("pbkdf2-sha1", .sha1), ("pbkdf2-sha256", .sha256), ("pbkdf2-sha384", .sha384),
        ("pbkdf2-sha512", .sha512),
    ]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let (name, function) = functions.first(where: { stored.hasPrefix("$\($0.name)$") }) else { return nil }
        return try pbkdf2(
            HashFields(stored.dropFirst(name.count + 2), of: name, counts: 3...3),
            function: function,
            base64: .dotted
        )
    }

    /// Reads iterations, salt and hash.
    ///
    /// The hash must be as long as a digest of the hash function.
    static func pbkdf2(_ fields: HashFields, function: HashFunction, base64: Base64) throws(BadHash) -> PBKDF2 {
        PBKDF2(
            function: function,
            iterations: try fields.number(
                fields[0],
                named: "the number of iterations",
                in: 1...PBKDF2.maximumIterations
            ),
            salt: try fields.bytes(fields[1], named: "salt", base64: base64, in: 1...128),
            storedHash: try fields.bytes(
                fields[2],
                named: "hash",
                base64: base64,
                in: function.byteCount...function.byteCount
            )
        )
    }
}

extension PBKDF2: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        "$pbkdf2-\(function.name)$\(iterations)$\(Base64.dotted.encode(salt.span))$\(Base64.dotted.encode(key.span))"
    }
}
