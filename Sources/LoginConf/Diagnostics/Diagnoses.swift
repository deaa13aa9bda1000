// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// The diagnostics collected while a text is read.
struct Diagnoses {
    /// The number of errors of one text after which further ones are dropped.
    static let limit = 100

    let text: SourceText
    private var list: [(start: UInt32, diagnostic: Diagnostic)] = []
    private(set) var errorCount = 0
    /// While true, diagnostics are dropped: after an error the parser is skipping to a place where it can continue.
    var isMuted = false

    init(_ text: SourceText) { self.text = text }

    /// True if the limit of errors is reached.
    var isFull: Bool { errorCount >= Self.limit }

    /// True if an error would be dropped now; there has been one before.
    ///
    /// It saves counting the lines for it.
    var dropsErrors: Bool { isMuted || isFull }

    /// True if a warning would be dropped now.
    var dropsWarnings: Bool { dropsErrors || list.count >= 2 * Self.limit }

    /// The diagnostics in the order of the text.
    var inOrder: [Diagnostic] {
        list.enumerated()
            .sorted { ($0.element.start, $0.offset) < ($1.element.start, $1.offset) }
            .map(\.element.diagnostic)
    }

    @inline(never)
    mutating func error(_ message: String, at range: SourceRange, hint: String? = nil) {
        guard !dropsErrors else { return }
        add(text.error(at: range, message, hint: hint), at: range)
    }

    @inline(never)
    mutating func warning(_ message: String, at range: SourceRange, hint: String? = nil) {
        guard !dropsWarnings else { return }
        add(text.warning(at: range, message, hint: hint), at: range)
    }

    /// Adds a diagnostic about a place of this text that was made elsewhere.
    mutating func add(_ diagnostic: Diagnostic, at range: SourceRange) {
        guard !dropsErrors else { return }
        list.append((range.start, diagnostic))
        guard diagnostic.severity == .error else { return }
        errorCount += 1
        guard isFull else { return }
        list.append((.max, text.error(at: range, "too many errors; the rest is not shown")))
    }

    /// Adds the diagnostics of a parser that read a part of this text; if it dropped diagnostics at its end, so does
    /// this one.
    mutating func take(_ other: Diagnoses) {
        if !isMuted {
            list += other.list
            errorCount += other.errorCount
        }
        isMuted = isMuted || other.isMuted
    }
}
