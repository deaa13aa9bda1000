// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Glibc

enum LogFile {
    private static let chunk = 1 << 18

    /// Reads a file, or standard input for `-`, to its end, in memory that does not depend on its size.
    ///
    /// A file that is cut off meanwhile ends there. A file that was compressed by gzip is decompressed.
    static func read(_ name: String, use: ([UInt8]) -> Void) throws(CommandError) {
        let isInput = name == "-"
        let descriptor = isInput ? STDIN_FILENO : unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(name, errno) }
        defer { if !isInput { close(descriptor) } }
        var bytes = try nextBytes(of: descriptor, name)
        if bytes.starts(with: [0x1F, 0x8B]) { return try readCompressed(descriptor, name, use: use) }
        while !bytes.isEmpty {
            use(bytes)
            bytes = try nextBytes(of: descriptor, name)
        }
    }

    private static func readCompressed(
        _ descriptor: Int32,
        _ name: String,
        use: ([UInt8]) -> Void
    ) throws(CommandError) {
        // A pipe cannot be read again from its beginning.
        guard lseek(descriptor, 0, SEEK_SET) == 0 else {
            throw CommandError(.failed, "\(displayName(name)) is compressed; use zcat FILE | gatehouse log")
        }
        guard let gzip = GzipProcess(input: descriptor) else {
            let message = "\(displayName(name)) is compressed, and gzip cannot be started"
            throw CommandError(.failed, "\(message); decompress it in another way")
        }
        do throws(CommandError) {
            defer { close(gzip.output) }
            while true {
                let bytes = try nextBytes(of: gzip.output, name)
                guard !bytes.isEmpty else { break }
                use(bytes)
            }
        } catch {
            _ = gzip.finish()
            throw error
        }
        guard gzip.finish() else {
            throw CommandError(.failed, "\(displayName(name)) is damaged or cut off: gzip cannot decompress all of it")
        }
    }

    private static func nextBytes(of descriptor: Int32, _ name: String) throws(CommandError) -> [UInt8] {
        var count = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: chunk) { buffer, initialized in
            repeat {
                count = unsafe Glibc.read(descriptor, buffer.baseAddress, chunk)
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        guard count >= 0 else { throw failure(name, errno) }
        return bytes
    }

    private static func failure(_ name: String, _ number: Int32) -> CommandError {
        let reason = unsafe String(cString: strerror(number))
        return CommandError(.failed, "\(displayName(name)) cannot be read: \(reason)")
    }

    private static func displayName(_ name: String) -> String { name == "-" ? "standard input" : Printable.line(name) }
}

/// A process of `gzip -dc` that decompresses a file.
///
/// A library would be one more dependency of every server, for a command that reads rotated logs. A system that has
/// compressed its logs has gzip. The damaged file of an attacker can only crash this process.
struct GzipProcess {
    /// The descriptor of the decompressed bytes, which the caller closes.
    let output: Int32
    private let process: pid_t

    /// Starts the process on a compressed file at its beginning; nil if it cannot be started.
    ///
    /// The program is not searched in `PATH`, and gets neither the name of the file nor an environment.
    init?(input: Int32) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[1]) }
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else {
            close(ends[0])
            return nil
        }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        unsafe posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        unsafe posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        var arguments: [UnsafeMutablePointer<CChar>?] = unsafe [strdup("gzip"), strdup("-dc"), nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var environment: [UnsafeMutablePointer<CChar>?] = unsafe [nil]
        var started: pid_t = 0
        var isStarted = false
        for path in ["/usr/bin/gzip", "/bin/gzip"] where !isStarted {
            isStarted = unsafe posix_spawn(&started, path, &actions, nil, &arguments, &environment) == 0
        }
        guard isStarted else {
            close(ends[0])
            return nil
        }
        (output, process) = (ends[0], started)
    }

    /// Waits for the end; true if the whole file was decompressed, also before bytes that gzip ignores.
    func finish() -> Bool {
        var status: Int32 = 0
        var result: pid_t
        repeat {
            result = unsafe waitpid(process, &status, 0)
        } while result < 0 && errno == EINTR
        // The lowest seven bits are the signal, the next byte is the exit status (wait(2)); 2 is a warning (gzip(1)).
        return result == process && status & 0x7F == 0 && [0, 2].contains(status >> 8 & 0xFF)
    }
}
