// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// A JSON text in whose strings `%u` stands for the user name and `%p` for the password.
///
/// `%%` stands for a percent sign. A placeholder must be inside of a string that is not a member name, so that no user
/// name and no password changes the structure.
struct BodyTemplate: Sendable {
    private enum Part: Sendable, Hashable {
        case text([UInt8])
        case name
        case password
    }

    private let parts: [Part]

    /// Reads a template.
    init(_ text: String) throws(BadValue) {
        guard text.utf8.count <= 16_384 else { throw BadValue("is longer than 16384 bytes") }
        parts = try Self.parts(Array(text.utf8))
        guard parts.contains(.name), parts.contains(.password) else { throw BadValue("needs %u and %p") }
        var reader = JSONReader([])
        do throws(JSONReader.Fault) {
            for part in parts {
                switch part {
                case .text(let bytes): try reader.read(bytes.span)
                case .name, .password:
                    guard reader.isInStringValue else {
                        throw JSONReader.Fault(description: "%u and %p must be inside of a string value", offset: 0)
                    }
                    try reader.read("x".utf8Span.span)
                }
            }
            try reader.finish()
        } catch {
            throw BadValue("is not JSON with placeholders: \(error.description)")
        }
    }

    private static func parts(_ text: [UInt8]) throws(BadValue) -> [Part] {
        var parts: [Part] = []
        var literal: [UInt8] = []
        var index = 0
        while index < text.count {
            defer { index += 1 }
            guard text[index] == UInt8(ascii: "%") else {
                literal.append(text[index])
                continue
            }
            index += 1
            switch index < text.count ? text[index] : 0 {
            case UInt8(ascii: "%"): literal.append(UInt8(ascii: "%"))
            case UInt8(ascii: "u"):
                parts += [.text(literal), .name]
                literal = []
            case UInt8(ascii: "p"):
                parts += [.text(literal), .password]
                literal = []
            case _: throw BadValue("takes %u, %p and %%, no other placeholder")
            }
        }
        parts.append(.text(literal))
        return parts
    }

    /// Returns the text with a user name and a password; nil if the password is not UTF-8.
    func filled(name: Username, password: Secret) -> Secret? {
        let isText = password.withBytes { span in
            unsafe span.withUnsafeBufferPointer { unsafe String(validating: $0, as: UTF8.self) != nil }
        }
        guard isText else { return nil }
        // A byte becomes at most six bytes.
        let capacity = parts.reduce(0) { sum, part in
            switch part {
            case .text(let bytes): sum + bytes.count
            case .name: sum + 6 * name.text.utf8.count
            case .password: sum + 6 * password.count
            }
        }
        return Secret(capacity: capacity) { output in
            for part in parts {
                switch part {
                case .text(let bytes): for byte in bytes { output.append(byte) }
                case .name: Self.append(name.text.utf8Span.span, to: &output)
                case .password: password.withBytes { Self.append($0, to: &output) }
                }
            }
        }
    }

    /// Appends bytes of UTF-8 as a part of a JSON string (RFC 8259 7).
    private static func append(_ bytes: Span<UInt8>, to output: inout OutputSpan<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        for index in bytes.indices {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"):
                output.append(UInt8(ascii: "\\"))
                output.append(byte)
            case 0..<0x20, 0x7F:
                for character in "\\u00".utf8 { output.append(character) }
                output.append(digits[Int(byte >> 4)])
                output.append(digits[Int(byte & 15)])
            case _: output.append(byte)
            }
        }
    }
}
