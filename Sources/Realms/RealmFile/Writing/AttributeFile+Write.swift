// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

extension AttributeFile {
    /// Returns the bytes of an attribute file after changes of a user's attributes.
    ///
    /// Other lines stay unchanged. The lines of a changed attribute are removed, and new lines are added at the end.
    ///
    /// - Parameters:
    ///   - changes: The changes.
    ///   - user: The user.
    ///   - bytes: The bytes of the file.
    ///   - key: Returns the key of a user's name.
    /// - Returns: The new bytes.
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

    /// Returns the changes that remove all attributes of a user.
    static func removals(of user: Username, in bytes: [UInt8], by key: (Username) -> UTF8Text) -> [AttributeChange] {
        Set(AttributeFile(bytes).lines.filter { key($0.user) == key(user) }.map(\.name)).map { .remove($0) }
    }
}
