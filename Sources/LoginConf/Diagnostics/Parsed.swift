// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// What a parser made of a text: a value, and all remarks about it.
public struct Parsed<Value: Sendable>: Sendable {
    /// What could be read, errors or not.
    ///
    /// It is for tools that show a file. Never configure anything from this.
    public let partial: Value
    /// All remarks in the order of the text.
    public let diagnostics: [Diagnostic]

    /// What was read, if nothing is wrong with it.
    public var value: Value? { hasErrors ? nil : partial }

    /// Whether the text is refused.
    public var hasErrors: Bool { diagnostics.contains { $0.severity == .error } }

    /// What was read.
    ///
    /// - Throws: All remarks, if one of them is an error.
    public func get() throws(ConfigurationErrors) -> Value {
        if let errors = ConfigurationErrors(diagnostics) { throw errors }
        return partial
    }
}

/// The remarks gathered while a text is read.
struct Diagnoses {
    /// After this many errors of one text further ones are not noted.
    static let limit = 100

    let text: SourceText
    private var list: [(start: UInt32, diagnostic: Diagnostic)] = []
    private(set) var errorCount = 0
    /// While set nothing is noted: the parser is on its way to a place where it understands the text again.
    var isMuted = false

    init(_ text: SourceText) { self.text = text }

    /// Whether there are so many errors that further ones are not worth reading.
    var isFull: Bool { errorCount >= Self.limit }

    /// Whether an error would be dropped now, so that nobody need count lines for it; there has been one before.
    var dropsErrors: Bool { isMuted || isFull }

    /// Whether a warning would be dropped now.
    var dropsWarnings: Bool { dropsErrors || list.count >= 2 * Self.limit }

    /// The remarks in the order of the text.
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

    /// A diagnostic made elsewhere about a place of this text.
    mutating func add(_ diagnostic: Diagnostic, at range: SourceRange) {
        guard !dropsErrors else { return }
        list.append((range.start, diagnostic))
        guard diagnostic.severity == .error else { return }
        errorCount += 1
        guard isFull else { return }
        list.append((.max, text.error(at: range, "too many errors; the rest is not shown")))
    }

    /// Adds what was noted while a part of the same text was read; if the rest cannot be judged there, neither here.
    mutating func take(_ other: Diagnoses) {
        if !isMuted {
            list += other.list
            errorCount += other.errorCount
        }
        isMuted = isMuted || other.isMuted
    }
}
