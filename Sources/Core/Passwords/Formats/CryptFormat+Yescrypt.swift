// SPDX-License-Identifier: Apache-2.0

extension CryptFormat {
    /// `params$salt$hash`.
    static func yescrypt(_ stored: String, rest: Substring, method: Crypt.Method) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: method.rawValue, counts: 3...3)
        var reader = YescryptNumbers(fields[0])
        guard let flavor = reader.next(from: 0), let logN = reader.next(from: 1), let r = reader.next(from: 1) else {
            throw fields.fault("the parameters cannot be read")
        }
        var (p, t) = (1, 0)
        if !reader.isAtEnd {
            // The bits of this number show which of the parameters p, t, g and NROM (the size of a ROM) follow. Hashes
            // with g or NROM are rejected.
            guard let have = reader.next(from: 1), have & ~3 == 0 else {
                throw fields.fault("g and NROM are not supported")
            }
            if have & 1 != 0 { p = reader.next(from: 2) ?? 0 }
            if have & 2 != 0 { t = reader.next(from: 1) ?? 0 }
            guard reader.isAtEnd, p > 0, have & 2 == 0 || t > 0 else {
                throw fields.fault("the parameters cannot be read")
            }
        }
        guard Self.flavors.contains(flavor) else { throw fields.fault("the flavor is not supported") }
        guard t == 0 || flavor > 0 else { throw fields.fault("the parameters do not fit together: flavor 0 has no t") }
        // libxcrypt computes yescrypt in p parts of N / p blocks, at least 4.
        guard flavor < 2 || 1 << min(logN, 24) >= 4 * p else {
            throw fields.fault("the parameters do not fit together: N must be at least 4 times p")
        }
        guard (1...24).contains(logN), (1...256).contains(r), (1...64).contains(p), (0...64).contains(t),
            128 * r << logN <= Scrypt.Parameters.maximumMemory,
            (128 * r * p * max(1, t)) << logN <= Scrypt.Parameters.maximumWork
        else { throw fields.fault("the cost is out of bounds") }
        try checkSalt(fields, salt: fields[1])
        // A group of 4 characters encodes 3 bytes. In an incomplete group the pad bits must be zero.
        let (cut, last) = (fields[1].utf8.count % 4, fields[1].utf8.last.flatMap(CryptAlphabet.value) ?? 0)
        guard cut == 0 || cut == 2 && last < 4 || cut == 3 && last < 16 else {
            throw fields.fault("the salt is truncated")
        }
        try fields.checkHash(fields[2], length: 43)
        let others = (flavor == 47 ? "" : ",flavor=\(flavor)") + (p == 1 ? "" : ",p=\(p)") + (t == 0 ? "" : ",t=\(t)")
        return Crypt(
            method: method,
            stored: stored,
            parameters: "ln=\(logN),r=\(r)\(others)",
            time: .nanoseconds((2 * 128 * r * p * max(1, t)) << logN),
            memory: 128 * r << logN,
            scheme: method == .yescrypt && others.isEmpty && fields[1].utf8.count >= 22
                ? HashScheme.yescryptCost(logN: logN, r: r).map { .yescrypt(cost: $0) } : nil
        )
    }

    /// The flavors that libxcrypt computes: 0 is scrypt, 1 adds the parameter t, and 47, written as `j`, is yescrypt.
    private static let flavors = [0, 1, 47]

    /// `$7$`, then N in one character, r and p in five characters each, the salt, and the hash.
    static func scrypt(_ stored: String, rest: Substring) throws(BadHash) -> Crypt {
        let fields = try HashFields(rest, of: "scrypt7", counts: 2...2)
        let values = fields[0].utf8.prefix(11).compactMap(CryptAlphabet.value)
        guard values.count == 11 else { throw fields.fault("the parameters cannot be read") }
        let r = values[1...5].reversed().reduce(0) { $0 << 6 | $1 }
        let p = values[6...10].reversed().reduce(0) { $0 << 6 | $1 }
        guard let parameters = Scrypt.Parameters(logN: values[0], r: r, p: p) else {
            throw fields.fault("the cost is out of bounds")
        }
        try checkSalt(fields, salt: fields[0].dropFirst(11))
        try fields.checkHash(fields[1], length: 43)
        return Crypt(
            method: .scrypt7,
            stored: stored,
            parameters: "ln=\(values[0]),r=\(r),p=\(p)",
            time: .nanoseconds(4 * parameters.memory * p),
            memory: parameters.memory
        )
    }

    private static func checkSalt(_ fields: HashFields, salt: Substring) throws(BadHash) {
        guard (1...86).contains(salt.utf8.count), salt.utf8.allSatisfy(CryptAlphabet.common.contains) else {
            throw fields.fault("the salt does not have 1 to 86 characters of the alphabet")
        }
    }
}

/// The numbers of yescrypt's parameters: a small number takes one character, a larger number several.
struct YescryptNumbers {
    private var characters: ArraySlice<UInt8>

    init(_ text: Substring) { characters = ArraySlice(text.utf8) }

    var isAtEnd: Bool { characters.isEmpty }

    /// Reads the next number of at most 30 bits, where the first character of the alphabet encodes `minimum`.
    ///
    /// The first character determines how many characters follow. The values 0 to 47 are numbers of one character. The
    /// next 8 values begin numbers of two characters, the next 4 values numbers of three characters, and so on.
    mutating func next(from minimum: Int) -> Int? {
        guard let first = characters.popFirst().flatMap(CryptAlphabet.value) else { return nil }
        var (number, start, end, bits) = (minimum, 0, 47, 0)
        while first > end {
            number += (end + 1 - start) << bits
            start = end + 1
            end = start + (62 - end) / 2
            bits += 6
            guard bits <= 24 else { return nil }
        }
        number += (first - start) << bits
        while bits > 0 {
            guard let value = characters.popFirst().flatMap(CryptAlphabet.value) else { return nil }
            bits -= 6
            number += value << bits
        }
        return number
    }
}
