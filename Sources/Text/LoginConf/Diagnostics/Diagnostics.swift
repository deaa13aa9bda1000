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
