// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The fields of a stored text, and the name of its format for the messages about what is wrong with them.
struct HashFields {
    /// The format's name.
    let format: String
    /// The fields, in order; empty ones too.
    let fields: [Substring]

    /// Splits a text at its dollar signs.
    ///
    /// - Parameters:
    ///   - text: The text behind the format's own prefix.
    ///   - format: The format's name.
    ///   - counts: How many fields there may be.
    /// - Throws: ``BadHash`` if there are more or fewer.
    init(_ text: some StringProtocol, of format: String, counts: ClosedRange<Int>) throws(BadHash) {
        self.format = format
        fields = text.split(separator: "$", maxSplits: counts.upperBound, omittingEmptySubsequences: false)
            .map { Substring($0) }
        guard counts.contains(fields.count) else { throw BadHash("\(format): the number of $ is wrong") }
    }

    /// One of the fields.
    subscript(index: Int) -> Substring { fields[index] }

    /// A fault of a text of this format.
    func fault(_ what: String) -> BadHash { BadHash("\(format): \(what)") }

    /// A field as a whole number without leading zeros.
    ///
    /// - Throws: ``BadHash`` if it is none, or out of bounds.
    func number(_ text: some StringProtocol, _ what: String, in bounds: ClosedRange<Int>) throws(BadHash) -> Int {
        guard let number = Decimal.read(text) else { throw fault("\(what) is not a whole number") }
        guard bounds.contains(number) else {
            throw fault("\(what) is \(number), and not from \(bounds.lowerBound) to \(bounds.upperBound)")
        }
        return number
    }

    /// A field of the form `name=number,name=number`, with exactly these names in this order.
    ///
    /// - Throws: ``BadHash`` if it is of another form, or a number is out of bounds.
    func numbers(_ field: Substring, _ names: [(name: String, bounds: ClosedRange<Int>)]) throws(BadHash) -> [Int] {
        let parts = field.split(separator: ",", omittingEmptySubsequences: false)
        let expected = names.map { "\($0.name)=" }.joined(separator: ",")
        guard parts.count == names.count else { throw fault("the parameters are not \(expected)") }
        var numbers: [Int] = []
        for (part, name) in zip(parts, names) {
            guard part.hasPrefix(name.name + "=") else { throw fault("the parameters are not \(expected)") }
            numbers.append(try number(part.dropFirst(name.name.count + 1), name.name, in: name.bounds))
        }
        return numbers
    }

    /// A field of Base64.
    ///
    /// - Throws: ``BadHash`` if it is none, or of a number of bytes out of bounds.
    func bytes(
        _ text: some StringProtocol,
        _ what: String,
        _ base64: Base64,
        in bounds: ClosedRange<Int>
    ) throws(BadHash) -> [UInt8] {
        guard let bytes = base64.decode(text) else { throw fault("the \(what) is not in its Base64") }
        return try checked(bytes, what, in: bounds)
    }

    /// Bytes whose number is checked.
    ///
    /// - Throws: ``BadHash`` if it is out of bounds.
    func checked(_ bytes: [UInt8], _ what: String, in bounds: ClosedRange<Int>) throws(BadHash) -> [UInt8] {
        guard bounds.contains(bytes.count) else {
            throw fault(
                bounds.lowerBound == bounds.upperBound
                    ? "the \(what) has \(bytes.count) bytes, not \(bounds.lowerBound)"
                    : "the \(what) has \(bytes.count) bytes, not \(bounds.lowerBound) to \(bounds.upperBound)"
            )
        }
        return bytes
    }
}

/// Whole numbers as they stand in stored texts.
enum Decimal {
    /// Reads a number without sign or leading zeros, of 10 digits at most.
    static func read(_ text: some StringProtocol) -> Int? {
        let digits = Array(text.utf8)
        guard (1...10).contains(digits.count), digits.count == 1 || digits[0] != UInt8(ascii: "0"),
            digits.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains)
        else { return nil }
        return Int(text)
    }
}
