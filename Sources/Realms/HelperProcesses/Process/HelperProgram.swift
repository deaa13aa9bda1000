// SPDX-License-Identifier: Apache-2.0

/// A program to start as a helper, with its limits.
package struct HelperProgram: Sendable {
    /// The absolute path of the program.
    package var path: String
    /// The arguments after the program's name.
    ///
    /// They are visible to all users of the machine, so they must not contain secrets.
    package var arguments: [String]
    /// The whole environment, as in `NAME=value`.
    package var environment: [String] = [
        "PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "HOME=/", "SHELL=/bin/sh", "LANG=C.UTF-8",
    ]
    /// The working folder.
    package var folder = "/"
    /// The limit for the memory that the helper can write to, in bytes (RLIMIT_DATA); 0 for no limit.
    package var memory: UInt64 = 0
    /// The maximum size of a file that the helper writes, in bytes; 0 for no limit.
    package var fileSize: UInt64 = 0
    /// The maximum number of open descriptors of the helper; 0 for no limit.
    package var openFiles: UInt64 = 256
    /// The user that the helper runs as; nil for the user of this program.
    package var account: HelperAccount?
    /// True if the helper cannot gain rights by setuid and setgid programs.
    package var forbidsNewPrivileges = true
    /// Creates a program without a memory limit.
    ///
    /// - Parameters:
    ///   - path: The absolute path of the program.
    ///   - arguments: The arguments after the program's name.
    package init(_ path: String, arguments: [String] = []) {
        self.path = path
        self.arguments = arguments
    }
}
