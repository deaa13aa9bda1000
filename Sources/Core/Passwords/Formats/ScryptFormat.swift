// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// passlib's format of scrypt, such as `$scrypt$ln=17,r=8,p=1$salt$hash`, with Base64 without padding.
enum ScryptFormat: PasswordFormat {
    static let names = ["scrypt"]

    static func read(_ stored: String, options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$scrypt$") else { return nil }
        let fields = try HashFields(stored.dropFirst(8), of: "scrypt", counts: 3...3)
        let numbers = try fields.numbers(fields[0], named: [("ln", 1...24), ("r", 1...256), ("p", 1...256)])
        return Scrypt(
            parameters: try parameters(fields, logN: numbers[0], r: numbers[1], p: numbers[2]),
            salt: try fields.bytes(fields[1], named: "salt", base64: .unpadded, in: 1...128),
            storedHash: try key(fields, of: fields[2], base64: .unpadded)
        )
    }

    /// Reads a key of 32 or 64 bytes.
    ///
    /// Other lengths are rejected. A short key of scrypt is the beginning of a longer key, so the password would also
    /// match a truncated text.
    ///
    /// - Throws: ``BadHash`` if the key has another length.
    static func key(_ fields: HashFields, of text: some StringProtocol, base64: Base64) throws(BadHash) -> [UInt8] {
        let key = try fields.bytes(text, named: "hash", base64: base64, in: 32...64)
        guard key.count == 32 || key.count == 64 else {
            throw fields.fault("the hash has neither 32 nor 64 bytes")
        }
        return key
    }

    /// Creates the parameters of scrypt.
    ///
    /// - Throws: ``BadHash`` if they are out of bounds.
    static func parameters(_ fields: HashFields, logN: Int, r: Int, p: Int) throws(BadHash) -> Scrypt.Parameters {
        guard let parameters = Scrypt.Parameters(logN: logN, r: r, p: p) else {
            throw fields.fault("the cost is out of bounds")
        }
        return parameters
    }

    /// Returns the binary logarithm of the cost N.
    ///
    /// - Throws: ``BadHash`` if N is not a power of two.
    static func logarithm(_ fields: HashFields, of text: some StringProtocol) throws(BadHash) -> Int {
        let n = try fields.number(text, named: "N", in: 2...(1 << 24))
        guard n.nonzeroBitCount == 1 else { throw fields.fault("N is not a power of two") }
        return n.trailingZeroBitCount
    }
}

extension Scrypt: StorableKeyDerivation {
    func text(_ key: [UInt8]) -> String {
        "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)"
            + "$\(Base64.unpadded.encode(salt.span))$\(Base64.unpadded.encode(key.span))"
    }
}
