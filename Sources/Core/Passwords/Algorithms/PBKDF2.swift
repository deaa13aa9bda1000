// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import OpenSSLKit

/// PBKDF2 with HMAC (RFC 8018 section 5.2).
struct PBKDF2: KeyDerivation {
    let function: HashFunction
    let iterations: Int
    let salt: [UInt8]
    let storedHash: [UInt8]

    /// By the time of an iteration, a check then takes four seconds with SHA-256, and twelve seconds with SHA-512.
    static let maximumIterations = 10_000_000

    var cost: HashCost {
        // The iterations are computed once for every block of the key.
        let blocks = (storedHash.count + function.byteCount - 1) / function.byteCount
        let parameters = "i=\(iterations)" + (blocks > 1 ? ",blocks=\(blocks)" : "")
        return HashCost(
            format: "pbkdf2-\(function.name)",
            parameters: parameters,
            time: .nanoseconds(function.iterationTime * iterations * blocks)
        )
    }

    var scheme: HashScheme? {
        guard salt.count >= 16, storedHash.count >= 32 else { return nil }
        return switch function {
        case .sha256: .pbkdf2SHA256(iterations: iterations)
        case .sha512: .pbkdf2SHA512(iterations: iterations)
        case .md5, .sha1, .sha384: nil
        }
    }

    func derive(_ password: Span<UInt8>, into bytes: inout MutableSpan<UInt8>) throws {
        try HashFault.rejectTrailingNUL(in: password, format: "PBKDF2")
        try PasswordDerivation.pbkdf2(
            password,
            salt: salt.span,
            function: function,
            iterations: iterations,
            into: &bytes
        )
    }
}

extension HashFunction {
    /// The function's name as formats write it, such as `sha256`.
    var name: String { rawValue.lowercased() }

    /// The estimated time of an iteration, in nanoseconds.
    fileprivate var iterationTime: Int {
        switch self {
        case .md5, .sha1, .sha256: 400
        case .sha384, .sha512: 1200
        }
    }
}

/// passlib's format of PBKDF2, such as `$pbkdf2-sha256$29000$salt$hash`, in Base64 with a dot instead of the plus sign.
enum PBKDF2Format: PasswordFormat {
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

    /// Reads iterations, salt and hash; the hash must be as long as a digest of the hash function.
    static func pbkdf2(_ fields: HashFields, function: HashFunction, base64: Base64) throws(BadHash) -> PBKDF2 {
        PBKDF2(
            function: function,
            iterations: try fields.iterations(fields[0]),
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

extension HashFields {
    func iterations(_ text: some StringProtocol, maximum: Int = PBKDF2.maximumIterations) throws(BadHash) -> Int {
        try number(text, named: "the number of iterations", in: 1...maximum)
    }
}

extension PBKDF2: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        "$pbkdf2-\(function.name)$\(iterations)$\(Base64.dotted.encode(salt.span))$\(Base64.dotted.encode(key.span))"
    }
}
