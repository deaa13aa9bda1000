// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc
internal import RealmConfiguration

/// The file of known servers: `$XDG_CONFIG_HOME/gatehouse/known_servers`, or `~/.config/gatehouse/known_servers`.
enum KnownServersFile {
    struct Fault: Error {
        let reason: String
    }

    /// The path of the file; nil if neither variable is set to an absolute path.
    static var path: String? {
        let variable = ConfigurationFiles.system.environment
        if let folder = variable("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
            return "\(folder)/gatehouse/known_servers"
        }
        if let home = variable("HOME"), home.hasPrefix("/") { return "\(home)/.config/gatehouse/known_servers" }
        return nil
    }

    /// Reads the file, if no other user may have changed it; a missing file has no servers.
    static func read(_ path: String) throws(Fault) -> KnownServers {
        let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return KnownServers("", path: path) }
            throw Fault(reason: reason(errno))
        }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Fault(reason: reason(errno)) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Fault(reason: "it is not a regular file") }
        // A user who can change the file could replace the key of a server.
        if let finding = FileTrust.error(path, as: .ownFile, opened: status) { throw Fault(reason: finding.text) }
        // The checked descriptor is read, not the path, so that the file cannot be replaced after the check.
        guard let text = String(validating: try bytes(of: descriptor), as: UTF8.self) else {
            throw Fault(reason: "it is not UTF-8")
        }
        return KnownServers(text, path: path)
    }

    /// Adds an entry to the file, or replaces the entry of the same server; after an error the file is unchanged.
    ///
    /// The file is read again under a lock, so that the entries of other runs of the command are kept.
    static func remember(_ server: KnownServer, in path: String) throws(Fault) {
        try makeFolder(folder(of: path))
        let lock = try lock(path)
        // Closing the descriptor releases the lock.
        defer { close(lock) }
        var servers = try read(path)
        servers.remember(server)
        try write(servers)
    }

    /// Waits for the lock of the file: flock(2) on `.known_servers.lock` in the same folder.
    ///
    /// The lock file is never removed: if it were created again, two runs could hold locks on two files of that name.
    private static func lock(_ path: String) throws(Fault) -> Int32 {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK
        let descriptor = unsafe open("\(folder(of: path))/.\(name).lock", flags, 0o600)
        guard descriptor >= 0 else { throw Fault(reason: "its lock file cannot be opened: \(reason(errno))") }
        // Other runs hold the lock only while they read and write the file.
        let deadline = ContinuousClock.now + .seconds(10)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let number = errno
            guard number == EWOULDBLOCK || number == EINTR, ContinuousClock.now < deadline else {
                close(descriptor)
                throw Fault(reason: number == EWOULDBLOCK ? "another program has locked it" : reason(number))
            }
            usleep(5000)
        }
        return descriptor
    }

    private static func folder(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
    }

    /// Replaces the file in one step by one that only the user may read; after an error it is unchanged.
    static func write(_ servers: KnownServers) throws(Fault) {
        let path = servers.path
        let folder = folder(of: path)
        try makeFolder(folder)
        let temporary = "\(path).\(getpid()).\(UInt64.random(in: 0 ... .max))"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw Fault(reason: reason(errno)) }
        let bytes = Array(servers.text.utf8)
        var written = 0
        while written < bytes.count {
            let count = unsafe bytes.withUnsafeBytes { buffer in
                unsafe Glibc.write(descriptor, buffer.baseAddress?.advanced(by: written), buffer.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            written += count
        }
        let isWritten = written == bytes.count && fsync(descriptor) == 0
        let isClosed = close(descriptor) == 0
        guard isWritten, isClosed, unsafe rename(temporary, path) == 0 else {
            let number = errno
            unsafe unlink(temporary)
            throw Fault(reason: reason(number))
        }
        let parent = unsafe open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard parent >= 0 else { return }
        fsync(parent)
        close(parent)
    }

    private static let maximumSize = 1 << 20

    private static func bytes(of descriptor: Int32) throws(Fault) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = unsafe chunk.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return bytes }
            if count < 0 {
                if errno == EINTR { continue }
                throw Fault(reason: reason(errno))
            }
            bytes += chunk[..<count]
            guard bytes.count <= maximumSize else { throw Fault(reason: "it is longer than \(maximumSize) bytes") }
        }
    }

    private static func makeFolder(_ folder: String) throws(Fault) {
        if unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = folder.lastIndex(of: "/"), slash > folder.startIndex else {
            throw Fault(reason: reason(errno))
        }
        try makeFolder(String(folder[..<slash]))
        guard unsafe mkdir(folder, 0o700) == 0 || errno == EEXIST else { throw Fault(reason: reason(errno)) }
    }

    private static func reason(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
