// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Follows the frames of a client (RFC 9113 section 4.1) without reading their payloads.
///
/// NIOHTTP2 reports complete frames and complete header blocks only. This detects a client that never completes one.
struct FrameWatch {
    /// The client's preface, RFC 9113 section 3.4.
    private static let prefaceLength = 24
    private static let headerLength = 9

    /// The number of complete frames.
    ///
    /// A header block counts as one frame, with its CONTINUATION frames.
    private(set) var completedCount = 0

    /// The number of bytes of the frame, or of the preface, that are missing.
    private var remaining = FrameWatch.prefaceLength
    private var headerCount = 0
    private var length = 0
    private var type: UInt8 = 0xFF
    /// True if a header block is incomplete.
    private(set) var isInBlock = false

    /// True if a header block is incomplete, or a frame other than DATA.
    var isUnfinished: Bool { isInBlock || headerCount > 0 || remaining > 0 && type != 0 }

    /// Follows received bytes.
    mutating func note(_ bytes: Span<UInt8>) {
        var position = 0
        while position < bytes.count {
            if remaining > 0 {
                let count = min(remaining, bytes.count - position)
                remaining -= count
                position += count
                if remaining == 0 { finish() }
            } else {
                noteHeader(bytes[position])
                position += 1
            }
        }
    }

    private mutating func noteHeader(_ byte: UInt8) {
        switch headerCount {
        case 0: length = Int(byte)
        case 1, 2: length = length << 8 | Int(byte)
        case 3: type = byte
        case 4: noteFlags(byte)
        default: break
        }
        headerCount += 1
        guard headerCount == Self.headerLength else { return }
        headerCount = 0
        remaining = length
        if remaining == 0 { finish() }
    }

    /// HEADERS and CONTINUATION leave a header block incomplete until one has END_HEADERS.
    private mutating func noteFlags(_ flags: UInt8) {
        guard type == 0x1 || type == 0x9 else { return }
        isInBlock = flags & 0x4 == 0
    }

    private mutating func finish() {
        if !isInBlock { completedCount += 1 }
    }
}
