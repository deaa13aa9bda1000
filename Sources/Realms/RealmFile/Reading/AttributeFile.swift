// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// An attribute file: one line for each value, which may contain colons, unlike the names of users in both formats.
struct AttributeFile: Sendable {
    /// A line `user:attribute:value`.
    private struct Line {
        let user: Username
        let name: String
        let value: String
        let whole: Range<Int>
    }

    private var lines: [Line] = []
    /// The ignored lines.
    private(set) var malformedLines: [BadLine] = []

    init(_ bytes: [UInt8]) {
        for line in TextLine.lines(of: bytes) {
            let content = bytes.trimmed(line.content)
            guard let first = content.first, bytes[first] != UInt8(ascii: "#") else { continue }
            do {
                lines.append(try Self.read(bytes, content: content, line: line))
            } catch {
                malformedLines.append(BadLine(line.number, "\(error)"))
            }
        }
    }

    private static func read(_ bytes: [UInt8], content: Range<Int>, line: TextLine) throws -> Line {
        let colon = UInt8(ascii: ":")
        guard let first = bytes.index(of: colon, in: content),
            let second = bytes.index(of: colon, in: first + 1..<content.upperBound)
        else { throw BadLine(line.number, "it is not user:attribute:value") }
        let valueRange = bytes.trimmed(second + 1..<content.upperBound)
        guard let user = bytes.text(content.lowerBound..<first), let name = bytes.text(first + 1..<second),
            let value = bytes.text(valueRange)
        else { throw BadLine(line.number, "it is not UTF-8") }
        let attribute = try UserAttribute(name: name, values: [value])
        return Line(user: try Username(user), name: attribute.name, value: value, whole: line.whole)
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

    /// Returns the bytes after changes of a user's attributes, in new lines at the end; `key` is that of a user's name.
    static func applying(
        _ changes: [AttributeChange],
        of user: Username,
        to bytes: [UInt8],
        by key: (Username) -> UTF8Text
    ) -> [UInt8] {
        let names = Set(
            changes.map { change in
                switch change {
                case .set(let attribute): UTF8Text(attribute.name)
                case .remove(let name): UTF8Text(name)
                }
            }
        )
        let lines = AttributeFile(bytes).lines.filter { key($0.user) == key(user) && names.contains(UTF8Text($0.name)) }
        var result = Splice.apply(lines.map { Splice($0.whole) }, to: bytes)
        for case .set(let attribute) in changes {
            for value in attribute.values {
                result = Splice.line("\(user):\(attribute.name):\(value)", after: result).applied(to: result)
            }
        }
        return result
    }

    /// Returns the changes that remove all attributes of a user.
    static func removals(of user: Username, in bytes: [UInt8], by key: (Username) -> UTF8Text) -> [AttributeChange] {
        Set(AttributeFile(bytes).lines.filter { key($0.user) == key(user) }.map(\.name)).map { .remove($0) }
    }
}
