// SPDX-License-Identifier: Apache-2.0

internal import Bytes

/// The fields of a stored text, and the name of its format for error messages.
struct HashFields {
    let format: String
    /// The fields in order, including empty fields.
    let fields: [Substring]

    /// Splits the text after the format's prefix at its dollar signs.
    init(_ text: some StringProtocol, of format: String, counts: ClosedRange<Int>) throws(BadHash) {
        self.format = format
        fields = text.split(separator: "$", maxSplits: counts.upperBound, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard counts.contains(fields.count) else {
            throw BadHash("\(format): the text has the wrong number of dollar signs")
        }
    }

    subscript(index: Int) -> Substring { fields[index] }

    func fault(_ what: String) -> BadHash { BadHash("\(format): \(what)") }

    func number(_ text: some StringProtocol, named what: String, in bounds: ClosedRange<Int>) throws(BadHash) -> Int {
        guard let number = Decimal.read(text) else { throw fault("\(what) is not a whole number") }
        guard bounds.contains(number) else {
            throw fault("\(what) is \(number), but must be from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// Reads the numbers of a field such as `m=256,t=2`, which must have exactly the given names in the given order.
    func numbers(_ field: Substring, named names: [(name: String, bounds: ClosedRange<Int>)]) throws(BadHash) -> [Int] {
        let parts = field.split(separator: ",", omittingEmptySubsequences: false)
        let expected = names.map { "\($0.name)=" }.joined(separator: ",")
        guard parts.count == names.count else { throw fault("the parameters are not \(expected)") }
        var numbers: [Int] = []
        for (part, name) in zip(parts, names) {
            guard part.hasPrefix(name.name + "=") else { throw fault("the parameters are not \(expected)") }
            numbers.append(try number(part.dropFirst(name.name.count + 1), named: name.name, in: name.bounds))
        }
        return numbers
    }

    func bytes(
        _ text: some StringProtocol,
        named what: String,
        base64: Base64,
        in bounds: ClosedRange<Int>
    ) throws(BadHash) -> [UInt8] {
        guard let bytes = base64.decode(text) else { throw fault("the \(what) is not valid Base64") }
        return try checked(bytes, named: what, in: bounds)
    }

    func checked(_ bytes: [UInt8], named what: String, in bounds: ClosedRange<Int>) throws(BadHash) -> [UInt8] {
        guard bounds.contains(bytes.count) else {
            throw fault(
                bounds.lowerBound == bounds.upperBound
                    ? "the \(what) has \(bytes.count) bytes, not \(bounds.lowerBound)"
                    : "the \(what) has \(bytes.count) bytes, not \(bounds.lowerBound) to \(bounds.upperBound)"
            )
        }
        return bytes
    }

    func hexadecimal(_ text: Substring, named what: String, in bounds: ClosedRange<Int>) throws(BadHash) -> [UInt8] {
        guard let bytes = Hexadecimal.decodeLowercase(text) else { throw fault("the \(what) is not hexadecimal") }
        return try checked(bytes, named: what, in: bounds)
    }

    /// Throws unless a text can be a salt of crypt(3).
    func checkSalt(_ text: Substring, lengths: ClosedRange<Int>) throws(BadHash) {
        guard CryptAlphabet.isSalt(text, lengths: lengths) else {
            throw fault("the salt does not have \(lengths.lowerBound) to \(lengths.upperBound) allowed characters")
        }
    }

    /// Throws unless a text has so many characters of the common alphabet of crypt(3).
    func checkHash(_ text: Substring, length: Int) throws(BadHash) {
        guard CryptAlphabet.isCommon(text, length: length) else {
            throw fault("the hash does not have \(length) characters of the alphabet")
        }
    }
}

enum Decimal {
    /// Reads a number of at most 10 digits, without a sign or leading zeros; nil for any other text.
    static func read(_ text: some StringProtocol) -> Int? {
        let digits = Array(text.utf8)
        guard (1...10).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0"),
            digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return Int(text)
    }
}

enum CryptAlphabet {
    /// `./0-9A-Za-z`, the alphabet of most methods.
    static let common = Array("./0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)
    /// `./A-Za-z0-9`, the alphabet of bcrypt.
    static let bcrypt = Array("./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789".utf8)

    static func isCommon(_ text: some StringProtocol, length count: Int) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(common.contains)
    }

    /// Returns whether a text can be a salt: visible ASCII without the characters that libxcrypt rejects.
    static func isSalt(_ text: some StringProtocol, lengths counts: ClosedRange<Int>) -> Bool {
        counts.contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !Array(#"$!*:;\"#.utf8).contains($0) }
    }

    static func value(_ character: UInt8) -> Int? { common.firstIndex(of: character) }

    /// Decodes the 22 characters of an MD5 digest; nil if the pad bits at the end are not zero.
    ///
    /// `order` has the indexes of the bytes that each group encodes, the most significant byte first. A group has four
    /// characters and encodes three bytes; the last group has two and encodes one.
    static func digest(_ text: Substring, order: [[Int]]) -> [UInt8]? {
        var values = text.utf8.compactMap(value)[...]
        var digest = [UInt8](repeating: 0, count: 16)
        for places in order {
            let count = places.count == 3 ? 4 : 2
            var bits = values.prefix(count).reversed().reduce(0) { $0 << 6 | $1 }
            values = values.dropFirst(count)
            for place in places.reversed() {
                digest[place] = UInt8(truncatingIfNeeded: bits)
                bits >>= 8
            }
            guard bits == 0 else { return nil }
        }
        return digest
    }
}
