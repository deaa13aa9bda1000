// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension CryptFormat {
    /// yescrypt's and gost-yescrypt's: `params$salt$hash`.
    static func yescrypt(_ stored: String, _ rest: Substring, _ method: Crypt.Method) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: method.rawValue, counts: 3...3)
        var reader = YescryptNumbers(fields[0])
        guard let flavor = reader.next(from: 0), let logN = reader.next(from: 1), let r = reader.next(from: 1) else {
            throw fields.fault("the parameters cannot be read")
        }
        var (p, t) = (1, 0)
        if !reader.isAtEnd {
            // Bits say which of p, t, g and the size of a ROM follow; nobody here has a ROM, and g must be 0.
            guard let have = reader.next(from: 1), have & ~3 == 0 else {
                throw fields.fault("g and NROM are not known here")
            }
            if have & 1 != 0 { p = reader.next(from: 2) ?? 0 }
            if have & 2 != 0 { t = reader.next(from: 1) ?? 0 }
            guard reader.isAtEnd, p > 0, have & 2 == 0 || t > 0 else {
                throw fields.fault("the parameters cannot be read")
            }
        }
        guard (1...24).contains(logN), (1...256).contains(r), (1...64).contains(p), (0...64).contains(t),
            128 * r << logN <= Scrypt.Parameters.mostMemory,
            (128 * r * p * max(1, t)) << logN <= Scrypt.Parameters.mostWork
        else { throw fields.fault("the cost is out of bounds") }
        try checkSalt(fields, fields[1])
        // Groups of 3 bytes in 4 characters; of a group that is cut, the bits that are left are zero.
        let (cut, last) = (fields[1].utf8.count % 4, fields[1].utf8.last.flatMap(CryptText.value) ?? 0)
        guard cut == 0 || cut == 2 && last < 4 || cut == 3 && last < 16 else { throw fields.fault("the salt is cut") }
        guard CryptText.isCommon(fields[2], 43) else { throw fields.fault("the hash is not of 43 characters") }
        // The flavour of all there are: yescrypt's own; others are scrypt in another dress.
        let others =
            (flavor == Self.flavor ? "" : ",flavor=\(flavor)") + (p == 1 ? "" : ",p=\(p)") + (t == 0 ? "" : ",t=\(t)")
        return Crypt(
            method: method,
            stored: stored,
            parameters: "ln=\(logN),r=\(r)\(others)",
            memory: 128 * r << logN,
            scheme: method == .yescrypt && others.isEmpty && fields[1].utf8.count >= 22
                ? HashPolicy.Scheme.yescryptCost(logN: logN, r: r).map { .yescrypt(cost: $0) } : nil
        )
    }

    /// `j`, the only flavour that is in use.
    private static let flavor = 47

    /// `$7$`: N in one character, r and p in five each, the salt, the hash.
    static func scrypt(_ stored: String, _ rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "scrypt7", counts: 2...2)
        let values = fields[0].utf8.prefix(11).compactMap(CryptText.value)
        guard values.count == 11 else { throw fields.fault("the parameters cannot be read") }
        let r = values[1...5].reversed().reduce(0) { $0 << 6 | $1 }
        let p = values[6...10].reversed().reduce(0) { $0 << 6 | $1 }
        guard let parameters = Scrypt.Parameters(logN: values[0], r: r, p: p) else {
            throw fields.fault("the cost is out of bounds")
        }
        try checkSalt(fields, fields[0].dropFirst(11))
        guard CryptText.isCommon(fields[1], 43) else { throw fields.fault("the hash is not of 43 characters") }
        return Crypt(
            method: .scrypt7,
            stored: stored,
            parameters: "ln=\(values[0]),r=\(r),p=\(p)",
            memory: parameters.memory
        )
    }

    private static func checkSalt(_ fields: HashFields, _ salt: Substring) throws(BadHash) {
        guard (1...86).contains(salt.utf8.count), salt.utf8.allSatisfy(CryptText.common.contains) else {
            throw fields.fault("the salt is not of 1 to 86 characters of the alphabet")
        }
    }
}

/// The numbers of yescrypt's parameters: each takes one character if it is small and more if it is not.
struct YescryptNumbers {
    private var characters: ArraySlice<UInt8>

    init(_ text: Substring) {
        characters = ArraySlice(text.utf8)
    }

    var isAtEnd: Bool { characters.isEmpty }

    /// Takes the next number.
    ///
    /// The first character says how many follow: those of up to 47 stand for themselves, the next 8 for numbers of two
    /// characters, the next 4 for three, and so on.
    ///
    /// - Parameter least: What the lowest encoding stands for.
    /// - Returns: The number; nil if there is none, or one of more than 30 bits.
    mutating func next(from least: Int) -> Int? {
        guard let first = characters.popFirst().flatMap(CryptText.value) else { return nil }
        var (number, start, end, bits) = (least, 0, 47, 0)
        while first > end {
            number += (end + 1 - start) << bits
            start = end + 1
            end = start + (62 - end) / 2
            bits += 6
            guard bits <= 24 else { return nil }
        }
        number += (first - start) << bits
        while bits > 0 {
            guard let value = characters.popFirst().flatMap(CryptText.value) else { return nil }
            bits -= 6
            number += value << bits
        }
        return number
    }
}
