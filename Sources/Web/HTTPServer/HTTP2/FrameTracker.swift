// SPDX-License-Identifier: Apache-2.0

/// Tracks the frames that a client sends (RFC 9113 section 4.1).
///
/// Payloads are not read.
///
/// NIOHTTP2 reports only complete frames and complete header blocks. The tracker detects a client that never completes
/// a frame or a header block.
struct FrameTracker {
    /// The client's preface, RFC 9113 section 3.4.
    private static let prefaceLength = 24
    private static let headerLength = 9

    /// The number of complete frames.
    ///
    /// A header block and its CONTINUATION frames count as one frame.
    private(set) var completedCount = 0

    /// The number of missing bytes of the preface or of the current frame's payload.
    private var remaining = FrameTracker.prefaceLength
    private var headerBytesRead = 0
    private var length = 0
    private var type: UInt8 = 0xFF
    /// True if a header block is incomplete.
    private(set) var isInHeaderBlock = false

    /// True if a header block, or a frame other than DATA, is incomplete.
    var isIncomplete: Bool { isInHeaderBlock || headerBytesRead > 0 || remaining > 0 && type != 0 }

    /// Processes received bytes.
    mutating func consume(_ bytes: Span<UInt8>) {
        var position = 0
        while position < bytes.count {
            if remaining > 0 {
                let count = min(remaining, bytes.count - position)
                remaining -= count
                position += count
                if remaining == 0 { finish() }
            } else {
                consumeHeaderByte(bytes[position])
                position += 1
            }
        }
    }

    private mutating func consumeHeaderByte(_ byte: UInt8) {
        switch headerBytesRead {
        case 0: length = Int(byte)
        case 1, 2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: readFlags(byte)
        default: break
        }
        headerBytesRead += 1
        guard headerBytesRead == Self.headerLength else { return }
        headerBytesRead = 0
        remaining = length
        if remaining == 0 { finish() }
    }

    /// A header block is incomplete until a HEADERS or CONTINUATION frame has the flag END_HEADERS.
    private mutating func readFlags(_ flags: UInt8) {
        guard type == 0x1 || type == 0x9 else { return }
        isInHeaderBlock = flags & 0x4 == 0
    }

    private mutating func finish() {
        if !isInHeaderBlock { completedCount += 1 }
    }
}
