// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The error for a file that cannot be read or written, or that other users of the machine may change.
struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text for the administrator, with the name of the file.
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates an error with the system's text for errno.
    static func system(_ what: String) -> FileFault {
        FileFault(what, number: errno)
    }

    init(_ what: String, number: Int32) {
        description = "\(what): \(unsafe String(cString: strerror(number)))"
    }
}
