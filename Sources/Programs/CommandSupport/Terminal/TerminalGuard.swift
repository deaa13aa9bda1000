// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Restores the echo of the terminal if a signal ends the process while a password is typed.
struct TerminalGuard {
    // These variables are written only while no handler is installed. A handler reads them and ends the process.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var before = termios()
    private static let ending = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGABRT, SIGUSR1, SIGUSR2]

    private var earlier: [(number: Int32, handler: sighandler_t?)] = []

    /// Installs handlers for the signals that end a process, and ignores SIGTSTP, until ``release()``.
    ///
    /// - Parameters:
    ///   - descriptor: The file descriptor of the terminal.
    ///   - before: The state of the terminal that is restored.
    init(_ descriptor: Int32, restoring before: termios) {
        unsafe Self.descriptor = descriptor
        unsafe Self.before = before
        for number in Self.ending {
            let handler = signal(number) { number in
                unsafe tcsetattr(TerminalGuard.descriptor, TCSANOW, &TerminalGuard.before)
                _exit(128 + number)
            }
            earlier.append((number, handler))
        }
        earlier.append((SIGTSTP, signal(SIGTSTP, SIG_IGN)))
    }

    /// Restores the earlier handlers.
    func release() {
        for (number, handler) in earlier { signal(number, handler) }
    }
}
