// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The values of references `${...}` to variables and files, which messages show as they are written.
final class HiddenValues: Sendable {
    private struct Value: Sendable {
        let value: String
        let written: String
        let line: Int
    }

    private let values = Mutex<[Value]>([])

    /// Adds a value.
    ///
    /// - Parameters:
    ///   - value: The value with its references replaced.
    ///   - written: The value as it is written.
    ///   - line: The number of its line.
    func add(_ value: String, writtenAs written: String, line: Int) {
        values.withLock { values in
            // The same value is often read twice, one time after the other.
            if let last = values.last, last.line == line, last.value.utf8.elementsEqual(value.utf8) { return }
            values.append(Value(value: value, written: written, line: line))
        }
    }

    /// Returns a diagnostic about the same text without the values.
    func hiding(in diagnostic: Diagnostic) -> Diagnostic { hiding(in: diagnostic, line: diagnostic.line) }

    /// Returns a diagnostic without the values.
    ///
    /// - Parameters:
    ///   - diagnostic: The diagnostic.
    ///   - line: The number of its line; nil if it is about another text. In diagnostics about other lines, a short value is
    ///     probably another word.
    /// - Returns: The diagnostic with the values as they are written.
    func hiding(in diagnostic: Diagnostic, line: Int?) -> Diagnostic {
        values.withLock { $0 }.reduce(diagnostic) { shown, hidden in
            let isSameLine = hidden.line == line
            guard isSameLine || hidden.value.utf8.count > 3 else { return shown }
            return shown.replacing(hidden.value, by: hidden.written, hidesParts: isSameLine)
        }
    }
}
