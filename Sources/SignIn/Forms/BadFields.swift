// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The reason why the fields of a form, a query or a JSON object are rejected; it contains nothing of the fields.
///
/// Two errors are equal when their codes are.
struct BadFields: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reasons.
    enum Code: String, Sendable, Hashable, CaseIterable {
        case tooLong = "more bytes than are taken"
        case tooMany = "more fields or elements than are taken"
        case repeated = "a name that occurs twice"
        case malformedPercent = "a percent sign without two hexadecimal digits"
        case notUTF8 = "bytes that are not UTF-8"
        case nul = "a NUL"
        case syntax = "not what the grammar allows"
        case controlCharacter = "a control character in a string"
        case badEscape = "a backslash with nothing it could stand for"
        case loneSurrogate = "half a surrogate pair"
        case number = "a number that is none taken here"
        /// A required field is missing.
        case missing = "a field that has to be there is not"
        /// A field has a value of a type that is not accepted.
        case type = "a value of another type than is taken"
        case nested = "an object or array where none is taken"
    }

    /// The reason.
    let code: Code
    /// The index of the byte at which the error was found.
    let offset: Int

    init(_ code: Code, at offset: Int) {
        self.code = code
        self.offset = offset
    }

    var description: String { "\(code.rawValue), at byte \(offset)" }

    static func == (left: BadFields, right: BadFields) -> Bool { left.code == right.code }

    func hash(into hasher: inout Hasher) { hasher.combine(code) }
}
