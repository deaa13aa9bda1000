// SPDX-License-Identifier: Apache-2.0

/// The reason why a form, a query or a JSON object is rejected.
///
/// The reason contains no text of the request.
///
/// Two errors are equal if their codes are equal.
struct BadFields: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reasons.
    enum Code: String, Sendable, Hashable, CaseIterable {
        case tooLong = "too many bytes"
        case tooMany = "too many fields or elements"
        case repeated = "a duplicate name"
        case malformedPercent = "a percent sign without two hexadecimal digits"
        case notUTF8 = "bytes that are not UTF-8"
        case nul = "a NUL character"
        case syntax = "a syntax error"
        case controlCharacter = "a control character in a string"
        case badEscape = "an unknown escape sequence"
        case loneSurrogate = "a surrogate that is not part of a pair"
        case number = "a number that is not an integer of up to nine digits"
        /// A required field is missing.
        case missing = "a required field is missing"
        /// The value of a field has an unsupported type.
        case type = "a value of an unsupported type"
        case nested = "a nested object or array"
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
