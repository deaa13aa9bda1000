// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc

/// Gives the terminal its echo back when the process is told to end while a password is being typed.
struct TerminalGuard {
    // Written only while no handler is installed; a handler reads them and ends the process.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var before = termios()
    private static let ending = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGABRT, SIGUSR1, SIGUSR2]

    private var earlier: [(number: Int32, handler: sighandler_t?)] = []

    /// Watches from now on; a stop from the keyboard or from elsewhere waits until ``release()``.
    init(_ descriptor: Int32, _ before: termios) {
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

    /// Puts back what was done on these signals before.
    func release() {
        for (number, handler) in earlier { signal(number, handler) }
    }
}
