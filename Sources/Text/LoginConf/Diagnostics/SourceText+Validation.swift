// SPDX-License-Identifier: Apache-2.0

extension SourceText {
    /// Returns an error if the text is too large or is not UTF-8; nil if it can be parsed.
    ///
    /// The JDK accepts malformed bytes: it replaces them by U+FFFD, which is valid in words.
    func validationError() -> Diagnostic? {
        guard bytes.count <= Self.maximumSize else {
            return error(at: .none, "the text has more than \(Self.maximumSize >> 20) MiB")
        }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            let range = SourceRange(UInt32(error.byteOffsets.lowerBound), UInt32(error.byteOffsets.upperBound))
            return self.error(at: range, "the text is not UTF-8", hint: "save the file as UTF-8")
        }
    }

    /// Returns whether there is a byte order mark at an offset.
    func hasByteOrderMark(at offset: Int) -> Bool {
        bytes[min(offset, bytes.count)...].starts(with: [0xEF, 0xBB, 0xBF])
    }
}
