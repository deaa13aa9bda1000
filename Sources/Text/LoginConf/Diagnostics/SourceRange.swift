// SPDX-License-Identifier: Apache-2.0

/// A half-open range of byte offsets in a ``SourceText``.
public struct SourceRange: Sendable, Hashable {
    /// The offset of the first byte.
    public let start: UInt32
    /// The offset after the last byte; equal to `start` for a place between two bytes.
    public let end: UInt32

    /// Creates a range; if the end is before the start, the range is empty.
    public init(_ start: UInt32, _ end: UInt32) {
        self.start = start
        self.end = max(start, end)
    }

    /// The empty range of a value that was not read from a text.
    public static let none = SourceRange(0, 0)
}

/// A place in a text as line and column.
///
/// A line ends at LF, CRLF or CR, also within comments and strings, where the JDK does not count line ends. A column is
/// one Unicode scalar. The first line and the first column are 1.
public struct SourceLocation: Sendable, Hashable {
    /// The line; the first line is 1.
    public let line: Int
    /// The column; the first column is 1.
    public let column: Int

    /// Creates a place from line and column.
    public init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }
}
