// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Darwin)
internal import Darwin
#endif

/// A file cannot be read or written, or must not be trusted.
struct FileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong, for the administrator; it names the file.
    let description: String

    init(_ description: String) {
        self.description = description
    }

    /// What the system said a moment ago.
    static func system(_ what: String) -> FileFault {
        FileFault(what, errno)
    }

    init(_ what: String, _ number: Int32) {
        description = "\(what): \(unsafe String(cString: strerror(number)))"
    }
}
