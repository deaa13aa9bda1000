// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The error of a mapping file that cannot be read, with its place.
struct MappingFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text for the administrator, with the name of the file.
    let description: String

    init(_ description: String) { self.description = description }

    /// Creates an error with the system's text for errno.
    static func system(_ path: String) -> MappingFault {
        MappingFault("\(path): \(unsafe String(cString: strerror(errno)))")
    }

    /// A line of a mapping file.
    struct Place: Sendable {
        let path: String
        let line: Int

        /// Returns an error at a column of the line.
        func fault(_ message: String, at column: Int) -> MappingFault {
            MappingFault("\(path):\(line):\(column): \(message)")
        }
    }
}
