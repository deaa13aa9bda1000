// SPDX-License-Identifier: Apache-2.0

/// Splits the bytes of a log into lines, in memory that does not depend on the length of the log.
package struct LineSplitter {
    /// The maximum length of a line, in bytes; Gatehouse writes shorter lines only.
    package static let maximumLength = 1 << 18

    /// The beginning of a line whose end has not been read yet.
    private var rest: [UInt8] = []
    /// True if the present line is too long, and its remaining bytes are skipped.
    private var isTooLong = false

    package init() {}

    /// Takes the next bytes of the log.
    ///
    /// - Parameters:
    ///   - chunk: The bytes.
    ///   - use: Takes a line without its line end; nil for a line that is too long.
    package mutating func add(_ chunk: [UInt8], use: ([UInt8]?) -> Void) {
        var start = 0
        while let end = chunk[start...].firstIndex(of: UInt8(ascii: "\n")) {
            if isTooLong || rest.count + end - start > Self.maximumLength {
                use(nil)
            } else if rest.isEmpty {
                use(Array(chunk[start..<end]))
            } else {
                use(rest + chunk[start..<end])
            }
            rest = []
            isTooLong = false
            start = end + 1
        }
        guard !isTooLong else { return }
        if rest.count + chunk.count - start > Self.maximumLength {
            isTooLong = true
            rest = []
        } else {
            rest += chunk[start...]
        }
    }

    /// Takes the end of a file: a last line without a line end may be incomplete.
    ///
    /// - Parameter use: Takes the line; nil for a line that is too long.
    package mutating func finish(use: ([UInt8]?) -> Void) {
        if isTooLong { use(nil) } else if !rest.isEmpty { use(rest) }
        rest = []
        isTooLong = false
    }
}
