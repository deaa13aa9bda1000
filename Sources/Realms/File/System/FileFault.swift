// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// A file cannot be read or written, or must not be trusted.
struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The text for the administrator, with the name of the file.
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// Creates an error from errno.
    static func system(_ what: String) -> FileFault {
        FileFault(what, number: errno)
    }

    init(_ what: String, number: Int32) {
        description = "\(what): \(unsafe String(cString: strerror(number)))"
    }
}
