// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Files
internal import Glibc

enum LogFile {
    /// Reads a file, or standard input for `-`, to its end, in memory that does not depend on its size.
    ///
    /// A file that is cut off meanwhile ends there. A file that was compressed by gzip is decompressed.
    static func read(_ name: String, use: ([UInt8]) -> Void) throws(CommandError) {
        let file = try SystemError.mapping(name == "-" ? OpenFile.standardInput() : OpenFile(name, .stream)) {
            failure(name, $0)
        }
        var bytes = try nextBytes(of: file, name)
        if bytes.starts(with: [0x1F, 0x8B]) { return try readCompressed(file, name, use: use) }
        while !bytes.isEmpty {
            use(bytes)
            bytes = try nextBytes(of: file, name)
        }
    }

    private static func readCompressed(
        _ file: OpenFile,
        _ name: String,
        use: ([UInt8]) -> Void
    ) throws(CommandError) {
        // A pipe cannot be read again from its beginning.
        do throws(SystemError) { try file.rewind() } catch {
            throw CommandError(.failed, "\(displayName(name)) is compressed; use zcat FILE | gatehouse log")
        }
        guard var gzip = GzipProcess(input: file) else {
            let message = "\(displayName(name)) is compressed, and gzip cannot be started"
            throw CommandError(.failed, "\(message); decompress it in another way")
        }
        do throws(CommandError) {
            while let output = gzip.output {
                let bytes = try nextBytes(of: output, name)
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

    private static func nextBytes(of file: OpenFile, _ name: String) throws(CommandError) -> [UInt8] {
        try SystemError.mapping(file.part(ofAtMost: 1 << 18)) { failure(name, $0) }
    }

    private static func failure(_ name: String, _ error: SystemError) -> CommandError {
        CommandError(.failed, "\(displayName(name)) cannot be read: \(error)")
    }

    private static func displayName(_ name: String) -> String { name == "-" ? "standard input" : Printable.line(name) }
}

/// A process of `gzip -dc` that decompresses a file.
///
/// A library would be one more dependency of every server, for a command that reads rotated logs. A system that has
/// compressed its logs has gzip. The damaged file of an attacker can only crash this process.
struct GzipProcess {
    /// The decompressed bytes; nil after ``finish()``.
    private(set) var output: OpenFile?
    private let process: pid_t

    /// Starts the process on a compressed file at its beginning; nil if it cannot be started.
    ///
    /// The program is not searched in `PATH`, and gets neither the name of the file nor an environment.
    init?(input: OpenFile) {
        var ends: [Int32] = [-1, -1]
        guard unsafe pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        output = OpenFile(owning: ends[0])
        defer { close(ends[1]) }
        var actions = unsafe posix_spawn_file_actions_t()
        guard unsafe posix_spawn_file_actions_init(&actions) == 0 else { return nil }
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawn_file_actions_adddup2(&actions, input.descriptor, STDIN_FILENO)
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
        guard isStarted else { return nil }
        process = started
    }

    /// Waits for the end; true if the whole file was decompressed, also before bytes that gzip ignores.
    mutating func finish() -> Bool {
        // Otherwise gzip could wait until somebody reads the rest.
        output = nil
        var status: Int32 = 0
        var result: pid_t
        repeat {
            result = unsafe waitpid(process, &status, 0)
        } while result < 0 && errno == EINTR
        // The lowest seven bits are the signal, the next byte is the exit status (wait(2)); 2 is a warning (gzip(1)).
        return result == process && status & 0x7F == 0 && [0, 2].contains(status >> 8 & 0xFF)
    }
}
