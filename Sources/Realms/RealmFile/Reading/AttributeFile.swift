// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// An attribute file: one line for each value, which may contain colons, unlike the names of users in both formats.
struct AttributeFile: Sendable {
    let lines: [AttributeLine]
    /// The ignored lines.
    let malformedLines: [(line: Int, reason: String)]

    init(_ bytes: [UInt8]) {
        var lines: [AttributeLine] = []
        var malformedLines: [(line: Int, reason: String)] = []
        for line in TextLine.lines(of: bytes) {
            let content = bytes.trimmed(line.content)
            guard let first = content.first, bytes[first] != UInt8(ascii: "#") else { continue }
            do {
                lines.append(try Self.read(bytes, content: content, line: line))
            } catch {
                malformedLines.append((line.number, "\(error)"))
            }
        }
        self.lines = lines
        self.malformedLines = malformedLines
    }

    /// Returns the attributes of every user, in the order of the file; values beyond the maximum are left out.
    func attributesByUser(_ key: (Username) -> UTF8Text) -> [UTF8Text: [UserAttribute]] {
        var values: [UTF8Text: [UserAttribute]] = [:]
        for line in lines {
            let user = key(line.user)
            var attributes = values[user, default: []]
            let earlier = attributes.values(of: line.name)
            guard let attribute = try? UserAttribute(name: line.name, values: earlier + [line.value]) else { continue }
            if let index = attributes.firstIndex(where: { $0.name.utf8.elementsEqual(line.name.utf8) }) {
                attributes[index] = attribute
            } else {
                attributes.append(attribute)
            }
            values[user] = attributes
        }
        return values
    }

    private struct BadLine: Error, CustomStringConvertible {
        let description: String
    }

    private static func read(_ bytes: [UInt8], content: Range<Int>, line: TextLine) throws -> AttributeLine {
        let colon = UInt8(ascii: ":")
        guard let first = bytes.index(of: colon, in: content),
            let second = bytes.index(of: colon, in: first + 1..<content.upperBound)
        else { throw BadLine(description: "it is not user:attribute:value") }
        let valueRange = bytes.trimmed(second + 1..<content.upperBound)
        guard let user = bytes.text(content.lowerBound..<first), let name = bytes.text(first + 1..<second),
            let value = bytes.text(valueRange)
        else { throw BadLine(description: "it is not UTF-8") }
        let attribute = try UserAttribute(name: name, values: [value])
        return AttributeLine(user: try Username(user), name: attribute.name, value: value, line: line)
    }

    /// Returns the bytes after changes of a user's attributes, in new lines at the end; `key` is that of a user's name.
    static func applying(
        _ changes: [AttributeChange],
        of user: Username,
        to bytes: [UInt8],
        by key: (Username) -> UTF8Text
    ) -> [UInt8] {
        let lines = AttributeFile(bytes).lines.filter { key($0.user) == key(user) }
        var result = bytes
        var removals: [Splice] = []
        for change in changes {
            let name =
                switch change {
                case .set(let attribute): attribute.name
                case .remove(let name): name
                }
            removals += lines.filter { $0.name.utf8.elementsEqual(name.utf8) }.map { Splice($0.line.whole) }
        }
        result = Splice.apply(removals, to: result)
        for case .set(let attribute) in changes {
            for value in attribute.values {
                result = Splice.apply([.line("\(user):\(attribute.name):\(value)", after: result)], to: result)
            }
        }
        return result
    }

    static func removals(of user: Username, in bytes: [UInt8], by key: (Username) -> UTF8Text) -> [AttributeChange] {
        Set(AttributeFile(bytes).lines.filter { key($0.user) == key(user) }.map(\.name)).map { .remove($0) }
    }
}

/// A line `user:attribute:value` of an attribute file.
struct AttributeLine: Sendable {
    let user: Username
    let name: String
    let value: String
    let line: TextLine
}
