// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Writes lines to standard output or standard error, in order, without blocking the caller.
///
/// If the reader of the stream is slow or does not read, up to ``maximumWaiting`` bytes wait. Further lines are dropped, and
/// their number is written as soon as the stream is read again.
final class LineWriter: Sendable {
    /// The maximum number of bytes that wait to be written: 1 MiB.
    static let maximumWaiting = 1 << 20

    /// The maximum number of bytes whose memory is kept for later lines: 256 KiB.
    private static let maximumSpare = 256 << 10

    /// The time after a line until all waiting lines are written together: 10 milliseconds.
    static let delay = DispatchTimeInterval.milliseconds(10)

    static let standardOutput = LineWriter(STDOUT_FILENO)
    static let standardError = LineWriter(STDERR_FILENO)

    private struct State {
        var waiting: [UInt8] = []
        /// An empty array with the memory of the lines that were written last.
        var spare: [UInt8] = []
        /// The number of bytes that were taken from ``waiting`` and are not yet written.
        var beingWritten = 0
        var dropped = 0
        var isScheduled = false
    }

    private let descriptor: Int32
    private let queue: DispatchQueue
    private let state = Mutex(State())

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        queue = DispatchQueue(label: "gatehouse.lines.\(descriptor)")
    }

    func write(_ text: String) { write(text.utf8Span.span) }

    /// Queues a line, which has no line end; if too many bytes wait, it drops and counts it.
    func write(_ line: Span<UInt8>) {
        let isFirst = state.withLock { state in
            guard state.waiting.count + state.beingWritten + line.count < Self.maximumWaiting else {
                state.dropped += 1
                return false
            }
            unsafe line.withUnsafeBufferPointer { unsafe state.waiting.append(contentsOf: $0) }
            state.waiting.append(UInt8(ascii: "\n"))
            defer { state.isScheduled = true }
            return !state.isScheduled
        }
        // The lines of the next 10 milliseconds are written together: under load, waking a thread for each line costs
        // more than writing it.
        if isFirst { schedule() }
    }

    private func schedule() {
        queue.asyncAfter(deadline: .now() + Self.delay) { [self] in
            writeWaiting()
            // The number of dropped lines is written without waiting for the next line, which may come hours later.
            let isMore = state.withLock { state in
                state.isScheduled = !state.waiting.isEmpty || state.dropped > 0
                return state.isScheduled
            }
            if isMore { schedule() }
        }
    }

    private func writeWaiting() {
        var (bytes, dropped): ([UInt8], Int) = state.withLock { state in
            let taken = (state.waiting, state.dropped)
            state.beingWritten = state.waiting.count
            state.waiting = state.spare
            state.spare = []
            state.dropped = 0
            return taken
        }
        Output.writeBytes(bytes, to: descriptor)
        if dropped > 0 {
            Output.write("gatehouse: \(dropped) lines were lost: this stream was not read", to: descriptor)
        }
        bytes.removeAll(keepingCapacity: bytes.capacity <= Self.maximumSpare)
        state.withLock { state in
            state.beingWritten = 0
            state.spare = bytes
        }
    }

    /// Waits until all lines are written, but no longer than a second.
    func flush() {
        // A command that has written no line starts no thread.
        guard state.withLock({ $0.isScheduled || $0.dropped > 0 }) else { return }
        let done = DispatchSemaphore(value: 0)
        queue.async { [self] in
            writeWaiting()
            done.signal()
        }
        _ = done.wait(timeout: .now() + .seconds(1))
    }
}
