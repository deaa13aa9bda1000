// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// The colours of errors, warnings and hints on a terminal.
package enum DiagnosticColors {
    /// Returns a text for standard error: with colours if it is a terminal, otherwise unchanged.
    ///
    /// The variable `NO_COLOR` (no-color.org) and the terminal `dumb` prevent colours.
    ///
    /// - Parameter text: Diagnostics as they are rendered, without control characters.
    /// - Returns: The text.
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
