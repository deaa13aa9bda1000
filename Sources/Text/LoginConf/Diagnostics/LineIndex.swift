// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The places of a text at which lines and columns are known, so that a look-up does not read the text from its start.
///
/// The index is made at the first look-up, because only texts with errors or rules need it. It takes 12 bytes for every
/// 512 bytes of the text.
final class LineIndex: Sendable {
    private static let step = 512

    /// The line of an offset.
    struct Checkpoint {
        /// The number of the line, from 1.
        var number: UInt32 = 1
        /// The offset of the first byte of the line.
        var start: UInt32 = 0
        /// The number of characters between the start of the line and the offset.
        var characters: UInt32 = 0

        /// Moves the offset over one byte.
        mutating func advance(over byte: UInt8, isBeforeLineFeed: Bool, to next: Int) {
            // CRLF is one line end.
            if byte == .lineFeed || byte == .carriageReturn && !isBeforeLineFeed {
                number += 1
                start = UInt32(next)
                characters = 0
            } else if !byte.isContinuation {
                characters += 1
            }
        }
    }

    private let checkpoints = Mutex<[Checkpoint]?>(nil)

    /// Returns the line of an offset.
    ///
    /// It takes time in proportion to the text at the first call, and constant time afterwards.
    ///
    /// - Parameters:
    ///   - offset: A byte offset, at most the number of bytes.
    ///   - bytes: The text, always the same; at most 2^32 - 1 bytes.
    /// - Returns: The number and the start of the line, and the number of characters before the offset.
    func line(of offset: Int, in bytes: [UInt8]) -> Checkpoint {
        let first = checkpoints.withLock { known in
            let all = known ?? Self.checkpoints(of: bytes)
            known = all
            return all[offset / Self.step]
        }
        return Self.advanced(first, from: offset / Self.step * Self.step, to: offset, in: bytes.span)
    }

    private static func checkpoints(of bytes: [UInt8]) -> [Checkpoint] {
        var all: [Checkpoint] = [Checkpoint()]
        all.reserveCapacity(bytes.count / step + 1)
        let span = bytes.span
        var offset = 0
        var checkpoint = Checkpoint()
        while offset + step <= span.count {
            checkpoint = advanced(checkpoint, from: offset, to: offset + step, in: span)
            all.append(checkpoint)
            offset += step
        }
        return all
    }

    private static func advanced(
        _ checkpoint: Checkpoint,
        from offset: Int,
        to end: Int,
        in span: Span<UInt8>
    ) -> Checkpoint {
        var checkpoint = checkpoint
        for index in offset..<end {
            let isBeforeLineFeed = index + 1 < span.count && span[index + 1] == .lineFeed
            checkpoint.advance(over: span[index], isBeforeLineFeed: isBeforeLineFeed, to: index + 1)
        }
        return checkpoint
    }
}
