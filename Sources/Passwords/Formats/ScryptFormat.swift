// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// passlib's scrypt, as in `$scrypt$ln=17,r=8,p=1$salt$hash`, in Base64 without padding.
enum ScryptFormat: PasswordFormat {
    static let names = ["scrypt"]

    static func read(_ stored: String, _ options: FormatOptions) throws(BadHash) -> (any PasswordAlgorithm)? {
        guard stored.hasPrefix("$scrypt$") else { return nil }
        let fields = try HashFields(stored.dropFirst(8), of: "scrypt", counts: 3...3)
        let numbers = try fields.numbers(fields[0], [("ln", 1...24), ("r", 1...256), ("p", 1...256)])
        return Scrypt(
            parameters: try parameters(fields, logN: numbers[0], r: numbers[1], p: numbers[2]),
            salt: try fields.bytes(fields[1], "salt", .bare, in: 1...128),
            expected: try fields.bytes(fields[2], "hash", .bare, in: 16...64)
        )
    }

    /// Parameters within bounds.
    ///
    /// - Throws: ``BadHash`` if they are not.
    static func parameters(_ fields: HashFields, logN: Int, r: Int, p: Int) throws(BadHash) -> Scrypt.Parameters {
        guard let parameters = Scrypt.Parameters(logN: logN, r: r, p: p) else {
            throw fields.fault("the cost is out of bounds")
        }
        return parameters
    }

    /// The binary logarithm of a cost N that is written out.
    ///
    /// - Throws: ``BadHash`` if it is no power of two.
    static func logarithm(_ fields: HashFields, _ text: some StringProtocol) throws(BadHash) -> Int {
        let n = try fields.number(text, "N", in: 2...(1 << 24))
        guard n.nonzeroBitCount == 1 else { throw fields.fault("N is no power of two") }
        return n.trailingZeroBitCount
    }
}

extension Scrypt: WritableDerivative {
    func text(_ key: [UInt8]) -> String {
        "$scrypt$ln=\(parameters.logN),r=\(parameters.r),p=\(parameters.p)"
            + "$\(Base64.bare.encode(salt))$\(Base64.bare.encode(key))"
    }
}
