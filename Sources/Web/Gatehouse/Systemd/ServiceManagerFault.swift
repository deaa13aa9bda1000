// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The reason why the environment or a socket of the service manager cannot be used.
public struct ServiceManagerFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The reason, for administrators.
    public let description: String

    init(_ description: String) { self.description = description }

    /// The text of `errno`.
    static var lastError: String { unsafe String(cString: strerror(errno)) }
}
