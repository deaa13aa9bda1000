// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The end of a wait for input, from any thread: a read of a terminal or a pipe blocks its thread, and the task that
/// waits for it cannot end it otherwise.
package final class InputInterrupt: Sendable {
    /// Two connected sockets: a byte that is sent to `sending` can be read at `event`, and is never read.
    private let event: Int32
    private let sending: Int32

    /// Creates an interrupt that has not occurred; nil if the process has too many files open.
    package init?() {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        guard unsafe socketpair(AF_UNIX, type, 0, &ends) == 0 else { return nil }
        (event, sending) = (ends[0], ends[1])
    }

    deinit {
        close(event)
        close(sending)
    }

    /// Ends the current wait and all later ones.
    package func interrupt() {
        // If the buffer is full, an earlier call has filled it, and the event has occurred.
        _ = unsafe send(sending, [0] as [UInt8], 1, Int32(MSG_NOSIGNAL))
    }

    package var isInterrupted: Bool {
        var polled = pollfd(fd: event, events: Int16(POLLIN), revents: 0)
        return unsafe poll(&polled, 1, 0) > 0
    }

    /// Waits until a descriptor can be read, has ended or has failed; false if it was interrupted, also if the
    /// descriptor can be read.
    func waits(for descriptor: Int32) -> Bool {
        // poll(2) ignores a negative number, and the read fails.
        guard descriptor >= 0 else { return true }
        var polled = [
            pollfd(fd: event, events: Int16(POLLIN), revents: 0),
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while true {
            let count = unsafe poll(&polled, 2, -1)
            if count < 0, errno == EINTR { continue }
            // After another error the read fails or blocks as it does without an interrupt.
            return count < 0 || polled[0].revents == 0
        }
    }
}
