// SPDX-License-Identifier: Apache-2.0

package import Bytes
internal import Glibc
public import LoginConf

/// Reads the files and environment variables for a configuration.
public struct ConfigurationFiles: Sendable {
    /// The contents of a file.
    public struct Contents: Sendable {
        /// The bytes of the whole file.
        public let bytes: [UInt8]

        /// Creates the contents of a file.
        ///
        /// - Parameter bytes: The bytes of the whole file.
        public init(bytes: [UInt8]) { self.bytes = bytes }
    }

    /// The maximum size of a file: 16 MiB.
    public static let maximumSize = 16 << 20

    /// Reads a whole file.
    public let read: @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>
    /// Returns the value of an environment variable; nil if it is not set.
    public let environment: @Sendable (_ name: String) -> String?
    /// Returns the dangers of a file.
    package let findings: @Sendable (_ path: String, FileTrust.Use, _ stateFolder: String?) -> [FileTrust.Finding]

    /// Creates a source of files and environment variables.
    ///
    /// - Parameters:
    ///   - read: Reads a whole file.
    ///   - environment: Returns the value of an environment variable; nil if it is not set.
    public init(
        read: @escaping @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>,
        environment: @escaping @Sendable (_ name: String) -> String?
    ) {
        self.init(read: read, environment: environment, findings: { _, _, _ in [] })
    }

    /// Creates a source with a check of owners and modes; a file that is checked may be missing.
    package init(
        read: @escaping @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>,
        environment: @escaping @Sendable (_ name: String) -> String?,
        findings: @escaping @Sendable (_ path: String, FileTrust.Use, _ stateFolder: String?) -> [FileTrust.Finding]
    ) {
        self.read = read
        self.environment = environment
        self.findings = findings
    }

    /// The files and environment variables of the system.
    public static let system = ConfigurationFiles(
        read: { path in
            Result { () throws(Expansion.UnreadableFile) in try SystemFile.contents(of: path) }
        },
        environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } },
        findings: { path, use, stateFolder in FileTrust.findings(path, as: use, stateFolder: stateFolder) }
    )
}

private enum SystemFile {
    static func contents(of path: String) throws(Expansion.UnreadableFile) -> ConfigurationFiles.Contents {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else { throw fault() }
        defer { close(descriptor) }
        // The open descriptor is checked, not the path, so that the file cannot be replaced between check and read.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw fault() }
        // Only regular files are allowed: a read from a pipe may return only the first part of the data.
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            throw Expansion.UnreadableFile(isFolder ? "it is a directory" : "it is not a regular file")
        }
        return ConfigurationFiles.Contents(bytes: try bytes(of: descriptor))
    }

    private static func bytes(of descriptor: Int32) throws(Expansion.UnreadableFile) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw fault()
            }
            bytes += chunk[..<count]
            guard bytes.count <= ConfigurationFiles.maximumSize else {
                throw Expansion.UnreadableFile("it is longer than \(ConfigurationFiles.maximumSize >> 20) MiB")
            }
        }
    }

    private static func fault() -> Expansion.UnreadableFile {
        let number = errno
        return Expansion.UnreadableFile(unsafe String(cString: strerror(number)))
    }
}

/// The default path of realms.conf.
public enum ConfigurationPath {
    /// The path of an installed configuration.
    static let installed = "/etc/gatehouse/realms.conf"

    /// `realms.conf` if the current folder has this file, otherwise `/etc/gatehouse/realms.conf`.
    public static var standard: String { unsafe access("realms.conf", F_OK) == 0 ? "realms.conf" : installed }
}
