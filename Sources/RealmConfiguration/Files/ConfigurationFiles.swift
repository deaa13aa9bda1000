// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
public import LoginConf

/// The source of a configuration's files and environment variables.
public struct ConfigurationFiles: Sendable {
    /// The contents of a file, and whether all users can change it.
    public struct Contents: Sendable {
        /// The bytes of the whole file.
        public let bytes: [UInt8]
        /// True if all users of the machine can write to it.
        public let isWritableByAll: Bool

        /// A file's contents.
        ///
        /// - Parameters:
        ///   - bytes: The bytes of the whole file.
        ///   - isWritableByAll: True if all users of the machine can write to it.
        public init(bytes: [UInt8], isWritableByAll: Bool = false) {
            self.bytes = bytes
            self.isWritableByAll = isWritableByAll
        }
    }

    /// The most bytes of a file that are read: 16 MiB.
    public static let maximumSize = 16 << 20

    /// Reads a whole file.
    public let read: @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>
    /// Looks up an environment variable.
    public let environment: @Sendable (_ name: String) -> String?

    /// A source of files and variables.
    ///
    /// - Parameters:
    ///   - read: Reads a whole file.
    ///   - environment: Looks up an environment variable.
    public init(
        read: @escaping @Sendable (_ path: String) -> Result<Contents, Expansion.UnreadableFile>,
        environment: @escaping @Sendable (_ name: String) -> String?
    ) {
        self.read = read
        self.environment = environment
    }

    /// The files and variables of the system.
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
        // It is checked on the open descriptor, so that the file cannot be replaced in between.
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw fault() }
        // Only a regular file is read: a part of the data of a pipe could be taken for all of it.
        guard status.st_mode & S_IFMT == S_IFREG else {
            let isFolder = status.st_mode & S_IFMT == S_IFDIR
            throw Expansion.UnreadableFile(isFolder ? "it is a directory" : "it is not a regular file")
        }
        return ConfigurationFiles.Contents(
            bytes: try bytes(of: descriptor),
            isWritableByAll: status.st_mode & S_IWOTH != 0
        )
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
