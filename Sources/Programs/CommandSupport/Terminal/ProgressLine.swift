// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import Synchronization

/// A line on the terminal that shows how far a command has come with its work.
package final class ProgressLine: Sendable {
    private struct Step {
        var text: String
        var total: Int?
        var done = 0
    }

    private let step: Mutex<Step>

    private init(_ text: String) { step = Mutex(Step(text: text)) }

    /// Runs an operation, which reports its progress to the line; shows the line if standard error is a terminal, and the
    /// operation takes longer than a second.
    package static func during<Value: Sendable, Failure: Error>(
        _ text: String,
        _ operation: @Sendable (ProgressLine) async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let line = ProgressLine(text)
        guard isatty(STDERR_FILENO) == 1 else { return try await operation(line) }
        let start = ContinuousClock.now
        // The task ends with this function.
        let display = Task.detached {
            var pause = Duration.seconds(1)
            var isShown = false
            while true {
                do { try await Task.sleep(for: pause) } catch { return isShown }
                pause = .milliseconds(250)
                isShown = true
                write("\r\(line.description(after: ContinuousClock.now - start))\u{1B}[K")
            }
        }
        let result: Result<Value, Failure>
        do throws(Failure) { result = .success(try await operation(line)) } catch { result = .failure(error) }
        display.cancel()
        // ECMA-48 8.3.41, EL: the line is erased.
        if await display.value { write("\r\u{1B}[2K") }
        return try result.get()
    }

    /// Begins the next step, with the number of its items.
    package func begin(_ text: String, of total: Int) { step.withLock { $0 = Step(text: text, total: total) } }

    /// Sets how many items of the current step are done.
    package func report(_ done: Int) { step.withLock { $0.done = done } }

    /// Returns the line, such as `importing users [#####               ] 25 % of 100000, 2 s`: less than 80 columns if the
    /// step's text has at most 20.
    func description(after time: Duration) -> String {
        let step = step.withLock { $0 }
        let seconds = "\(time.components.seconds) s"
        guard let total = step.total, total > 0 else { return "\(step.text) ... \(seconds)" }
        let done = min(max(step.done, 0), total)
        let filled = done * Self.width / total
        let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: Self.width - filled)
        return "\(step.text) [\(bar)] \(done * 100 / total) % of \(total), \(seconds)"
    }

    private static let width = 20

    private static func write(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
