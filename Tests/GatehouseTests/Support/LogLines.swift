// SPDX-License-Identifier: Apache-2.0

import Logging
import Synchronization

/// The lines that a server has logged.
final class LogLines: Sendable {
    private struct State {
        var lines: [String] = []
        var waiting: [(text: String, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var text: String { state.withLock { $0.lines.joined(separator: "\n") } }

    /// Waits for a line that contains `text`.
    func waitForLine(containing text: String) async {
        await withCheckedContinuation { continuation in
            let isFound = state.withLock { state in
                guard !state.lines.contains(where: { $0.contains(text) }) else { return true }
                state.waiting.append((text, continuation))
                return false
            }
            if isFound { continuation.resume() }
        }
    }

    var logger: Logger { Logger(label: "test", factory: { _ in Handler(lines: self) }) }

    fileprivate func add(_ line: String) {
        let satisfied = state.withLock { state in
            state.lines.append(line)
            let satisfied = state.waiting.filter { line.contains($0.text) }
            state.waiting.removeAll { line.contains($0.text) }
            return satisfied
        }
        satisfied.forEach { $0.continuation.resume() }
    }

    private struct Handler: LogHandler {
        let lines: LogLines
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) { lines.add("\(event.message) \(event.metadata ?? [:])") }
    }
}
