// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import LoginConf

/// Reads the files and environment variables for a configuration.
public struct ConfigurationFiles: Sendable {
    /// The contents of a file, and whether its mode protects it.
    public struct Contents: Sendable {
        /// The bytes of the whole file.
        public let bytes: [UInt8]
        /// True if all users of the machine can write to the file.
        public let isWritableByAll: Bool
        /// True if all users of the machine can read the file, and reach it in its folder.
        public let isReadableByAll: Bool
        /// True if the mode is suitable for a private key: 0600, or 0640 if root owns the file, or less.
        public let isPrivate: Bool

        /// Creates the contents of a file.
        ///
        /// - Parameters:
        ///   - bytes: The bytes of the whole file.
        ///   - isWritableByAll: True if all users of the machine can write to the file.
        ///   - isReadableByAll: True if all users of the machine can read the file.
        ///   - isPrivate: True if the mode is suitable for a private key.
        public init(
            bytes: [UInt8],
            isWritableByAll: Bool = false,
            isReadableByAll: Bool = false,
            isPrivate: Bool = true
        ) {
            self.bytes = bytes
            self.isWritableByAll = isWritableByAll
            self.isReadableByAll = isReadableByAll
            self.isPrivate = isPrivate
        }
    }

    /// The maximum size of a file: 16 MiB.
    public static let maximumSize = 16 << 20

    /// Reads a whole file.
    public let read: @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>
    /// Returns the value of an environment variable; nil if it is not set.
    public let environment: @Sendable (_ name: String) -> String?

    /// Creates a source of files and environment variables.
    ///
    /// - Parameters:
    ///   - read: Reads a whole file.
    ///   - environment: Returns the value of an environment variable; nil if it is not set.
    public init(
        read: @escaping @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>,
        environment: @escaping @Sendable (_ name: String) -> String?
    ) {
        self.read = read
        self.environment = environment
    }

    /// The files and environment variables of the system.
    public static let system = ConfigurationFiles(
        read: { path in
            do throws(Expansion.UnreadableFile) {
                return .success(try SystemFile.contents(of: path))
            } catch {
                return .failure(error)
            }
        },
        environment: { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
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
        // A service whose key belongs to root reads it as a member of the file's group.
        let forbidden: mode_t = status.st_uid == 0 ? 0o027 : 0o077
        return ConfigurationFiles.Contents(
            bytes: try bytes(of: descriptor),
            isWritableByAll: status.st_mode & S_IWOTH != 0,
            isReadableByAll: status.st_mode & S_IROTH != 0 && isReachable(path),
            isPrivate: status.st_mode & forbidden == 0
        )
    }

    /// Returns whether all users can reach a file in its folder; true if this is not known.
    private static func isReachable(_ path: String) -> Bool {
        // If the path is a link, the folder of the file counts.
        guard let resolved = unsafe realpath(path, nil) else { return true }
        defer { unsafe free(resolved) }
        var status = stat()
        guard unsafe stat(RelativePath.folder(of: String(cString: resolved)), &status) == 0 else { return true }
        return status.st_mode & S_IXOTH != 0
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
