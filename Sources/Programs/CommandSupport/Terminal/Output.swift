// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Glibc

/// Writing to streams without a buffer, so that no output is lost when the process exits.
package enum Output {
    /// Writes a line, and returns whether all of it was written; it blocks while the reader of the stream does not read.
    @discardableResult
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        writeBytes(Array((text + "\n").utf8), to: descriptor)
    }

    /// Writes bytes, and returns whether all were written; it blocks while the reader of the stream does not read.
    @discardableResult
    package static func writeBytes(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let written = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written < 0, errno == EINTR { continue }
            if written < 0, errno == EAGAIN {
                // Another program has set the stream to non-blocking.
                var ready = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard unsafe poll(&ready, 1, -1) >= 0 || errno == EINTR else { return false }
                continue
            }
            guard written > 0 else { return false }
            rest = rest.dropFirst(written)
        }
        return true
    }
}

/// Text without characters that control a terminal.
package enum Printable {
    /// Returns the text on one line, with U+FFFD in place of each control character, tab and line feed: a name or a message
    /// of a module could otherwise look like several lines of output.
    package static func line(_ text: String) -> String {
        Self.text(String(text.unicodeScalars.map { $0 == "\n" || $0 == "\t" ? "\u{FFFD}" : Character($0) }))
    }

    /// Returns the text with U+FFFD in place of each control character but tabs and line feeds: a line quoted from a file may
    /// contain tabs, and the underline below it must start at the same column.
    package static func text(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars { result.append(isControl(scalar) ? "\u{FFFD}" : scalar) }
        return String(result)
    }

    /// Returns whether a character, but a tab or a line feed, controls the terminal or the direction of text.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        scalar != "\t" && scalar != "\n" && LineText.isControl(scalar)
    }
}

package enum Table {
    /// The maximum width of a column, in characters; a longer cell is not cut, and does not widen its column.
    private static let maximumWidth = 80

    package static func lines(_ rows: [[String]]) -> [String] { Columns(of: rows).lines(rows) }

    package struct Columns {
        private let widths: [Int]

        package init(of rows: [[String]]) {
            let rows = rows.map { $0.map(Printable.line) }
            let columns = rows.map(\.count).max() ?? 0
            widths = (0..<columns).map { column in
                rows.map { $0.count > column && $0[column].count <= maximumWidth ? $0[column].count : 0 }.max() ?? 0
            }
        }

        /// Returns these or further rows of the table as lines, with control characters replaced.
        package func lines(_ rows: [[String]]) -> [String] {
            rows.map { row in
                let cells = row.map(Printable.line).enumerated().map { column, cell in
                    let width = column < widths.count ? widths[column] : 0
                    return column == row.count - 1
                        ? cell : cell + String(repeating: " ", count: max(0, width - cell.count))
                }
                return cells.joined(separator: "  ")
            }
        }
    }
}

/// The colours of errors, warnings and hints on a terminal.
package enum DiagnosticColors {
    /// Returns diagnostics without control characters for standard error: with colours if it is a terminal.
    ///
    /// The variable `NO_COLOR` (no-color.org) and the terminal `dumb` prevent colours.
    package static func standardError(_ text: String) -> String {
        guard isatty(STDERR_FILENO) == 1, isEmpty("NO_COLOR"), !isDumb else { return text }
        return colored(text)
    }

    private static func isEmpty(_ variable: String) -> Bool {
        guard let value = unsafe getenv(variable) else { return true }
        return unsafe value.pointee == 0
    }

    private static var isDumb: Bool {
        guard let value = unsafe getenv("TERM") else { return true }
        return unsafe strcmp(value, "dumb") == 0
    }

    /// Returns the text with ANSI escape sequences for colours (ECMA-48 section 8.3.117).
    static func colored(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let content = line.drop { $0 == " " || $0 == "\t" }
            let indent = line[..<content.startIndex]
            if content.hasPrefix("hint: ") { return indent + color(36, "hint:") + content.dropFirst(5) }
            if content.first == "^", content.dropFirst().allSatisfy({ $0 == "~" }) {
                return indent + color(32, String(content))
            }
            for (word, number) in [(" error: ", 31), (" warning: ", 33)] {
                // A place precedes the severity: file, line and column, each with a colon.
                guard let place = line.firstRange(of: word), line[..<place.lowerBound].hasSuffix(":") else { continue }
                return line[..<place.lowerBound] + " " + color(number, String(word.dropFirst().dropLast())) + " "
                    + line[place.upperBound...]
            }
            return String(line)
        }.joined(separator: "\n")
    }

    private static func color(_ number: Int, _ text: String) -> String { "\u{1B}[1;\(number)m\(text)\u{1B}[0m" }
}
