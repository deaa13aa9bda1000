// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// A half-open range of byte offsets in a ``SourceText``.
public struct SourceRange: Sendable, Hashable {
    /// The offset of the first byte.
    public let start: UInt32
    /// The offset after the last byte; equal to `start` for a place between two bytes.
    public let end: UInt32

    /// Creates a range; an end before the start is replaced by the start.
    public init(_ start: UInt32, _ end: UInt32) {
        self.start = start
        self.end = max(start, end)
    }

    /// The range of a value that was not read from a text.
    public static let none = SourceRange(0, 0)
}

/// A place by line and column.
///
/// Lines end at LF, CRLF or CR, also within comments and strings (the JDK does not count those). Columns are Unicode
/// scalars of the line. Both are counted from 1.
public struct SourceLocation: Sendable, Hashable {
    /// The line, from 1.
    public let line: Int
    /// The column, from 1.
    public let column: Int

    /// Creates a place from line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
