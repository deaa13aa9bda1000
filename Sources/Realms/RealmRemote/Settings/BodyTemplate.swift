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

    init(_ text: String) throws(BadValue) {
        guard text.utf8.count <= 16_384 else { throw BadValue("is longer than 16384 bytes") }
        parts = try Self.parts(Array(text.utf8))
        guard parts.contains(.name), parts.contains(.password) else { throw BadValue("needs %u and %p") }
        // Each placeholder is a letter here, which must be a part of a string.
        var (sample, places): ([UInt8], Set<Int>) = ([], [])
        for part in parts {
            if case .text(let bytes) = part {
                sample += bytes
            } else {
                places.insert(sample.count)
                sample.append(UInt8(ascii: "x"))
            }
        }
        let cause: String
        do throws(JSONFault) {
            var (reader, outside) = (JSONReader(), places)
            try Self.removeStrings(in: sample.span, &reader, from: &outside)
            try reader.finish(sample.span)
            guard !outside.isEmpty else { return }
            cause = Self.outside
        } catch {
            cause = places.contains(error.offset) ? Self.outside : error.description
        }
        throw BadValue("is not JSON with placeholders: \(cause)")
    }

    private static let outside = "%u and %p must be inside of a string value"

    /// Removes the places that are inside of strings, but not of names.
    private static func removeStrings(
        in bytes: Span<UInt8>,
        _ reader: inout JSONReader,
        from places: inout Set<Int>
    ) throws(JSONFault) {
        switch try reader.value(bytes) {
        case .string(let string): places = places.filter { !string.contains($0) }
        case .object: while try reader.member(bytes) != nil { try removeStrings(in: bytes, &reader, from: &places) }
        case .array: while try reader.element(bytes) { try removeStrings(in: bytes, &reader, from: &places) }
        case .number, .boolean, .null: break
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
            case UInt8(ascii: "u"), UInt8(ascii: "p"):
                parts += [.text(literal), text[index] == UInt8(ascii: "u") ? .name : .password]
                literal = []
            case _: throw BadValue("takes %u, %p and %%, no other placeholder")
            }
        }
        parts.append(.text(literal))
        return parts
    }

    /// Returns the text with a user name and a password; nil if the password is not UTF-8.
    func filled(name: Username, password: Secret) -> Secret? {
        guard password.withBytes({ $0.isUTF8 }) else { return nil }
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
                case .name: JSONEscapes.required.appendContent(name.text.utf8Span.span, to: &output)
                case .password: password.withBytes { JSONEscapes.required.appendContent($0, to: &output) }
                }
            }
        }
    }
}
