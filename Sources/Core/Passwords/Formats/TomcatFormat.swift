// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// The stored credentials of Tomcat's `MessageDigestCredentialHandler` and `SecretKeyCredentialHandler`.
///
/// Tomcat stores `salt$iterations$hash` in hexadecimal digits, and has the algorithm in its configuration. Here the
/// algorithm is a scheme before it: `{TOMCAT-SHA-256}` for a digest, first of the salt and the password and then of its
/// own result, and `{TOMCAT-PBKDF2-SHA256}` for PBKDF2 with a key of any length up to the length of a digest.
///
/// Source: `DigestCredentialHandlerBase`, `ConcurrentMessageDigest` and `SecretKeyCredentialHandler` of Tomcat 9 to 11.
enum TomcatFormat: PasswordFormat {
    static let names = (digests + keys).map { "{\($0.name)}" }

    private static let digests: [(name: String, function: HashFunction)] = [
        ("TOMCAT-MD5", .md5), ("TOMCAT-SHA-1", .sha1), ("TOMCAT-SHA-256", .sha256), ("TOMCAT-SHA-384", .sha384),
        ("TOMCAT-SHA-512", .sha512),
    ]
    private static let keys: [(name: String, function: HashFunction)] = [
        ("TOMCAT-PBKDF2-SHA1", .sha1), ("TOMCAT-PBKDF2-SHA256", .sha256), ("TOMCAT-PBKDF2-SHA384", .sha384),
        ("TOMCAT-PBKDF2-SHA512", .sha512),
    ]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard let text = SchemeText(stored) else { return nil }
        let name = text.uppercaseName
        if let function = digests.first(where: { $0.name == name })?.function {
            let fields = try HashFields(text.rest, of: "{\(name)}", counts: 3...3)
            return SaltedDigest(
                function: function,
                rounds: try fields.number(
                    fields[1],
                    named: "the number of iterations",
                    in: 1...CostBounds.maximumSHA1Rounds
                ),
                saltFirst: true,
                salt: try fields.hexadecimal(fields[0], named: "salt", in: 0...128),
                storedHash: try fields.hexadecimal(
                    fields[2],
                    named: "digest",
                    in: function.byteCount...function.byteCount
                )
            )
        }
        guard let function = keys.first(where: { $0.name == name })?.function else { return nil }
        let fields = try HashFields(text.rest, of: "{\(name)}", counts: 3...3)
        return PBKDF2(
            function: function,
            iterations: try fields.number(
                fields[1],
                named: "the number of iterations",
                in: 1...PBKDF2.maximumIterations
            ),
            salt: try fields.hexadecimal(fields[0], named: "salt", in: 1...128),
            storedHash: try fields.hexadecimal(fields[2], named: "key", in: minimumKeyLength...function.byteCount)
        )
    }

    /// The minimum length of a key: 128 bits.
    private static let minimumKeyLength = 16
}

extension HashFields {
    /// Decodes a field of lower-case hexadecimal digits.
    ///
    /// - Throws: ``BadHash`` if the field has other characters, or the number of bytes is out of bounds.
    fileprivate func hexadecimal(
        _ text: Substring,
        named what: String,
        in bounds: ClosedRange<Int>
    ) throws(BadHash) -> [UInt8] {
        guard let bytes = Hexadecimal.decodeLowercase(text) else { throw fault("the \(what) is not hexadecimal") }
        return try checked(bytes, named: what, in: bounds)
    }
}
