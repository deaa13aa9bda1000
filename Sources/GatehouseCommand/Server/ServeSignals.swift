// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import Synchronization

/// The signal handlers of a server, from its start on.
///
/// Until the server listens, SIGTERM and SIGINT end the process at once; after that the server stops gracefully.
/// SIGQUIT and the signals of faults keep the action of the system.
enum ServeSignals {
    /// Signals without a meaning here, which would end a process that has no handler for them.
    private static let ignored = [SIGPIPE, SIGALRM, SIGVTALRM, SIGPROF, SIGUSR1, SIGUSR2, SIGIO, SIGPWR]

    /// True if a SIGHUP has arrived before the server listened.
    private static let hasEarlyHangup = Atomic(false)

    /// Ignores the signals without a meaning, and keeps a SIGHUP that arrives while the server starts.
    static func install() {
        // Initialized here: an initializer must not run in a signal handler.
        hasEarlyHangup.store(false, ordering: .relaxed)
        signal(SIGHUP) { _ in ServeSignals.hasEarlyHangup.store(true, ordering: .relaxed) }
        for number in ignored { signal(number, SIG_IGN) }
    }

    /// Delivers a SIGHUP that arrived while the server started, now that it handles them.
    static func deliverEarlyHangup() {
        if hasEarlyHangup.exchange(false, ordering: .relaxed) { kill(getpid(), SIGHUP) }
    }
}
