// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// Names that are looked up byte by byte, in a time that hardly depends on their number.
struct NameSet: Sendable {
    /// The largest number of names that are compared one by one; hashing takes longer for so few.
    private static let linearCount = 8

    private let names: [UTF8Text]
    /// The same names; empty if they are few.
    private let table: Set<UTF8Text>

    /// Names in any order; a name may occur twice.
    init(_ names: [String]) {
        self.names = names.map { UTF8Text($0) }
        table = names.count > Self.linearCount ? Set(self.names) : []
    }

    /// True if there are no names.
    var isEmpty: Bool { names.isEmpty }

    /// Returns whether a name is in the set.
    func contains(_ name: String) -> Bool {
        table.isEmpty ? names.contains { $0.string.hasBytes(of: name) } : table.contains(UTF8Text(name))
    }

    /// Returns whether a user is a member of a group of the set.
    func containsGroup(of user: SignedInUser) -> Bool {
        if names.count <= user.groups.count || table.isEmpty { return names.contains { user.isMember(of: $0.string) } }
        return user.groups.contains { table.contains(UTF8Text($0)) }
    }
}
