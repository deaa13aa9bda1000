// SPDX-License-Identifier: Apache-2.0

extension SourceText {
    /// Returns whether a value consists of references `${...}` only, so that it is not written in this text.
    ///
    /// - Parameter range: The place of the value, with its quotes if it has any.
    /// - Returns: True if the value has at least one reference and nothing else. `${{...}}` is not a reference.
    public func consistsOfReferences(in range: SourceRange) -> Bool {
        let end = min(Int(range.end), bytes.count)
        var rest = bytes[min(Int(range.start), end)..<end]
        if rest.first == .quote, rest.last == .quote { rest = rest.dropFirst().dropLast() }
        guard !rest.isEmpty else { return false }
        while !rest.isEmpty {
            guard rest.starts(with: "${".utf8), !rest.starts(with: "${{".utf8),
                let close = rest.firstIndex(of: .closeBrace)
            else { return false }
            rest = rest[(close + 1)...]
        }
        return true
    }

    /// Returns the error for a fault of expansion.
    ///
    /// The error is shown at the reference. If the reference is not found in the text, it is shown at the whole value.
    func diagnostic(of fault: Expander.Fault, in range: SourceRange) -> Diagnostic {
        error(at: place(of: fault.reference, in: range), fault.message, hint: fault.hint)
    }

    private func place(of reference: String?, in range: SourceRange) -> SourceRange {
        guard let wanted = reference.map({ Array($0.utf8) }), !wanted.isEmpty else { return range }
        // A reference with escapes is not found, because it is spelled differently in the text.
        var start = Int(range.start)
        while start + wanted.count <= Int(range.end) {
            let end = start + wanted.count
            if bytes[start..<end].elementsEqual(wanted) { return SourceRange(UInt32(start), UInt32(end)) }
            start += 1
        }
        return range
    }
}
