// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// The signal handlers of the server process.
///
/// Until the configuration is read, SIGTERM and SIGINT end the process at once. From then on, they stop it gracefully.
/// SIGQUIT, and signals of faults such as SIGSEGV, have their default actions.
enum ServeSignals {
    /// The signals that are ignored.
    ///
    /// The server does not use them, and their default action would end the process.
    private static let ignored = [SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR]

    /// True if a SIGHUP arrived before the server listened.
    private static let hasEarlyHangup = Atomic(false)

    /// Ignores the unused signals, and records a SIGHUP that arrives while the server starts.
    static func install() {
        // This initializes the variable. An initializer must not run in a signal handler.
        hasEarlyHangup.store(false, ordering: .relaxed)
        signal(SIGHUP) { _ in ServeSignals.hasEarlyHangup.store(true, ordering: .relaxed) }
        for number in ignored { signal(number, SIG_IGN) }
    }

    /// Sends a recorded SIGHUP again.
    ///
    /// Call this after the server has installed its handler for SIGHUP.
    static func deliverEarlyHangup() {
        if hasEarlyHangup.exchange(false, ordering: .relaxed) { kill(getpid(), SIGHUP) }
    }
}
