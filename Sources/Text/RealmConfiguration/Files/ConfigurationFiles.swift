// SPDX-License-Identifier: Apache-2.0

package import Files
internal import Glibc
public import LoginConf

/// Reads the files and environment variables for a configuration.
public struct ConfigurationFiles: Sendable {
    /// The maximum size of a file: 16 MiB.
    public static let maximumSize = 16 << 20

    /// Reads a whole file.
    public let read: @Sendable (_ path: String) -> Result<[UInt8], Expansion.UnreadableFile>
    /// Returns the value of an environment variable; nil if it is not set.
    public let environment: @Sendable (_ name: String) -> String?
    /// Returns the dangers of a file, which may be missing; by default none.
    package var findings: @Sendable (_ path: String, FileTrust.Use, _ stateFolder: String?) -> [FileTrust.Finding] = {
        _,
        _,
        _ in []
    }

    /// Creates a source of files and environment variables.
    public init(
        read: @escaping @Sendable (_ path: String) -> Result<[UInt8], Expansion.UnreadableFile>,
        environment: @escaping @Sendable (_ name: String) -> String?
    ) {
        self.read = read
        self.environment = environment
    }

    /// The files and environment variables of the system.
    public static let system = {
        var files = ConfigurationFiles(
            read: { path in
                Result { () throws(UnreadableFile) in
                    try FileContents(path, as: nil, limit: maximumSize, mayGrow: true).bytes
                }.mapError { fault in
                    let isFolder = fault == .notRegular(isFolder: true)
                    let isMissing = fault == .system(SystemError(number: ENOENT))
                    return Expansion.UnreadableFile(isFolder ? "it is a directory" : fault.reason, isMissing: isMissing)
                }
            },
            environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
        )
        files.findings = { path, use, stateFolder in FileTrust.findings(path, as: use, stateFolder: stateFolder) }
        return files
    }()
}

/// The default path of realms.conf.
public enum ConfigurationPath {
    /// The path of an installed configuration.
    static let installed = "/etc/gatehouse/realms.conf"

    /// `realms.conf` if the current folder has this file, otherwise `/etc/gatehouse/realms.conf`.
    public static var standard: String { unsafe access("realms.conf", F_OK) == 0 ? "realms.conf" : installed }
}
