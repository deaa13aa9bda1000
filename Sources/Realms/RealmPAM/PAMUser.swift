// SPDX-License-Identifier: Apache-2.0

internal import HelperProcesses
internal import PAMMessages
internal import RealmKit

/// The groups and attributes of a user of the system.
struct PAMUser: Sendable {
    let groups: [String]
    /// The full name as `displayName`; empty if the system has none.
    let attributes: [UserAttribute]

    /// Reads the full name and the groups from the end of a message.
    ///
    /// A group whose name is not valid grants nothing and is left out, and a full name that cannot be an attribute.
    ///
    /// - Parameter reader: The reader of the message; nil is returned if the message is not valid.
    init?(_ reader: inout MessageReader) {
        guard let fullName = reader.text() else { return nil }
        var groups: [String] = []
        while !reader.isAtEnd {
            guard let bytes = reader.text(), groups.count < PAMMessage.maximumGroups else { return nil }
            guard let name = String(validating: bytes, as: UTF8.self), !name.utf8.isEmpty,
                !name.unicodeScalars.contains(where: HelperText.isControl)
            else { continue }
            groups.append(name)
        }
        self.groups = groups
        attributes = Self.attributes(fullName)
    }

    private static func attributes(_ fullName: ArraySlice<UInt8>) -> [UserAttribute] {
        guard let text = String(validating: fullName, as: UTF8.self) else { return [] }
        do throws(BadAttribute) {
            return [try UserAttribute(name: UserAttribute.displayName, values: [text])]
        } catch {
            return []
        }
    }
}
