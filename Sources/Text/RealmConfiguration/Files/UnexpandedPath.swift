// SPDX-License-Identifier: Apache-2.0

/// Paths that a shell would expand, and that this program takes as they are.
package enum UnexpandedPath {
    /// Returns the beginning of a path that a shell would expand: `~` or `$NAME`; nil if there is none.
    package static func beginning(of path: String) -> Substring? {
        if path.utf8.first == UInt8(ascii: "~") { return path.prefix(1) }
        guard path.utf8.first == UInt8(ascii: "$") else { return nil }
        let name = path.dropFirst().prefix { $0 == "_" || $0.isASCII && ($0.isLetter || $0.isNumber) }
        return name.isEmpty ? nil : path[..<name.endIndex]
    }
}
