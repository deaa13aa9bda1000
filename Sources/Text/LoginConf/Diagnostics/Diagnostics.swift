// SPDX-License-Identifier: Apache-2.0

/// The diagnostics that are collected while a text is read.
struct Diagnostics {
    /// The maximum number of errors for one text; further errors are dropped.
    static let limit = 100

    let text: SourceText
    private var list: [(start: Int, diagnostic: Diagnostic)] = []
    private(set) var errorCount = 0
    /// True while diagnostics are dropped: after an error, while the parser skips to a place where it can continue.
    var isMuted = false

    init(_ text: SourceText) { self.text = text }

    var isFull: Bool { errorCount >= Self.limit }

    /// True if an error would be dropped now, and so needs no message.
    var dropsErrors: Bool { isMuted || isFull }

    var dropsWarnings: Bool { dropsErrors || list.count >= 2 * Self.limit }

    /// The diagnostics in the order of the text.
    var inOrder: [Diagnostic] {
        list.enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element.diagnostic)
    }

    mutating func error(
        _ message: String,
        at range: SourceRange,
        hint: String? = nil,
        showing place: ShownPlace = .ifKnown
    ) {
        guard !dropsErrors else { return }
        add(text.error(at: range, message, hint: hint, showing: place), at: range)
    }

    mutating func warning(_ message: String, at range: SourceRange, hint: String? = nil) {
        guard !dropsWarnings else { return }
        add(text.warning(at: range, message, hint: hint), at: range)
    }

    /// Adds a diagnostic about this text that another type has created.
    mutating func add(_ diagnostic: Diagnostic, at range: SourceRange) {
        guard !dropsErrors else { return }
        list.append((range.start, diagnostic))
        guard diagnostic.severity == .error else { return }
        errorCount += 1
        guard isFull else { return }
        list.append((.max, text.error(at: range, "too many errors; the rest is not shown")))
    }
}

/// Text of a configuration, made safe for a terminal or a log.
enum DiagnosticText {
    /// Returns a line of a file with its invisible characters replaced; tabs are kept.
    static func line(_ bytes: ArraySlice<UInt8>) -> String {
        var shown = String.UnicodeScalarView()
        for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
            shown.append(scalar == "\t" ? scalar : replacement(of: scalar))
        }
        return String(shown)
    }

    /// Returns a message or a name with its invisible characters replaced, and cut to ``maximumLength``.
    static func text(_ text: String) -> String {
        var shown = String.UnicodeScalarView()
        for (place, scalar) in text.unicodeScalars.enumerated() {
            guard place < maximumLength else {
                shown.append(contentsOf: "...".unicodeScalars)
                break
            }
            shown.append(replacement(of: scalar))
        }
        return String(shown)
    }

    /// The maximum number of Unicode scalars of a message, a hint or a name.
    private static let maximumLength = 1000

    /// Returns a word of the file for a message, in back quotes and cut to 60 characters.
    static func word(_ text: String) -> String {
        let limit = 60
        let isLong = text.unicodeScalars.count > limit
        return "`" + Self.text(String(text.unicodeScalars.prefix(limit))) + (isLong ? "..." : "") + "`"
    }

    private static func replacement(of scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0x20...0x7E: return scalar
        // The symbols for control characters (U+2400 to U+241F) have the same order as the control characters.
        case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value) ?? "?"
        case 0x7F: return "\u{2421}"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: return "?"
        default: return scalar
        }
    }
}
