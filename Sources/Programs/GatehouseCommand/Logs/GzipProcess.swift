// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// A process of `gzip -dc` that decompresses a file.
///
/// A library for decompression would be one more dependency of every build and every server, for a command that reads
/// rotated logs. A system that has compressed its logs has gzip. The damaged file of an attacker can only crash this
/// process.
struct GzipProcess {
    /// The descriptor of the decompressed bytes; the user of the process closes it.
    let output: Int32
    private let process: pid_t

    /// Starts the process; nil if it cannot be started.
    ///
    /// The program is not searched in `PATH`, and gets neither the name of the file nor an environment.
    ///
    /// - Parameter input: The descriptor of the compressed file, at its beginning.
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

    /// Waits for the end of the process.
    ///
    /// - Returns: True if the whole file was decompressed. Bytes after its end, which gzip ignores, are no fault.
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
