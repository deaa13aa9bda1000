// SPDX-License-Identifier: Apache-2.0

/// The names of groups that users, files and other systems give.
package enum GroupName {
    /// The maximum length of a name, in bytes.
    package static let maximumBytes = 1024

    /// Returns whether a text can be the name of a group.
    ///
    /// - Parameter name: The text.
    /// - Returns: True if it has 1 to ``maximumBytes`` bytes and no control characters (C0, DEL, C1).
    package static func isUsable(_ name: String) -> Bool {
        guard (1...maximumBytes).contains(name.utf8.count) else { return false }
        // Most names are plain ASCII.
        return name.utf8.allSatisfy { (0x20...0x7E).contains($0) }
            || !name.unicodeScalars.contains { $0.value < 0x20 || (0x7F...0x9F).contains($0.value) }
    }

    /// Returns names as one text for an administrator.
    ///
    /// A name that could be read as several ones, or as none, is quoted as in a realms.conf.
    ///
    /// - Parameters:
    ///   - names: The names.
    ///   - separator: The text between two names.
    /// - Returns: The names, as in `Staff, "Domain Users", "a, b"`.
    package static func list(_ names: [String], separator: String = ", ") -> String {
        names.map(quoted).joined(separator: separator)
    }

    private static func quoted(_ name: String) -> String {
        let isPlain = name.unicodeScalars.allSatisfy { scalar in
            let properties = scalar.properties
            return !#"#,;{}"\“”„‘’"#.unicodeScalars.contains(scalar) && !properties.isWhitespace
                && properties.generalCategory != .format
        }
        guard name.isEmpty || !isPlain || name.utf8.first == UInt8(ascii: "'") else { return name }
        var text = "\""
        for scalar in name.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { text.unicodeScalars.append("\\") }
            text.unicodeScalars.append(scalar)
        }
        return text + "\""
    }
}
