// SPDX-License-Identifier: Apache-2.0
// Gatehouse

extension SourceText {
    /// What keeps a text from being read at all: its size, or bytes that are not UTF-8.
    ///
    /// The JDK turns malformed bytes into U+FFFD, a character that words may hold, and goes on.
    func unreadable() -> Diagnostic? {
        guard bytes.count <= Self.maximumSize else {
            return error(at: .none, "the text has more than \(Self.maximumSize >> 20) MiB")
        }
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
            return nil
        } catch {
            let range = SourceRange(UInt32(error.byteOffsets.lowerBound), UInt32(error.byteOffsets.upperBound))
            return self.error(at: range, "this is not UTF-8", hint: "save the file as UTF-8")
        }
    }

    /// Whether a byte order mark stands at an offset.
    func hasByteOrderMark(at offset: Int) -> Bool {
        bytes[min(offset, bytes.count)...].starts(with: [0xEF, 0xBB, 0xBF])
    }
}
