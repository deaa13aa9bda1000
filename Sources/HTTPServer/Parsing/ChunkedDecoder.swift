// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// Takes the chunks off a body (RFC 9112 section 7.1); extensions and trailers are dropped.
struct ChunkedDecoder {
    private enum State {
        case size(digits: Int)
        case sizeExtension
        case sizeEnd
        case data
        case dataEnd
        case dataLineFeed
        case trailerStart
        case trailerName
        case trailer
        case trailerEnd
        case end
        case done
    }

    private var state = State.size(digits: 0)
    private var remaining = 0
    // How many bytes besides data may come: extensions and trailers are of no use here and must not be endless.
    private var overhead = 0
    private static let maximumOverhead = 16_384

    /// Whether the body has come to its end.
    var isDone: Bool {
        if case .done = state { true } else { false }
    }

    /// Takes from `input` what belongs to the body and appends its data to `output`.
    ///
    /// - Parameters:
    ///   - input: What has come; nothing behind the end of the body is taken.
    ///   - output: Where data goes.
    ///   - limit: How much data may come in this call, in bytes.
    /// - Throws: 400 for what is no chunk, 413 for a body that is too long.
    mutating func decode(
        _ input: inout ByteBuffer,
        into output: inout ByteBuffer,
        limit: Int
    ) throws(RequestFault) {
        var room = limit
        while !isDone, input.readableBytes > 0 {
            if case .data = state {
                guard remaining <= room else { throw .bodyTooLong }
                let count = min(remaining, input.readableBytes)
                if var data = input.readSlice(length: count) { output.writeBuffer(&data) }
                remaining -= count
                room -= count
                if remaining == 0 { state = .dataEnd }
            } else if let byte = input.readInteger(as: UInt8.self) {
                overhead += 1
                guard overhead <= Self.maximumOverhead else { throw .malformed("too much between the chunks") }
                try take(byte)
            }
        }
    }

    private mutating func take(_ byte: UInt8) throws(RequestFault) {
        switch state {
        case .size(let digits):
            if let value = Self.hexValue(byte) {
                // 8 digits are more than any limit, and far from an overflow.
                guard digits < 8 else { throw .malformed("a chunk's size is too long") }
                remaining = remaining << 4 | value
                state = .size(digits: digits + 1)
            } else {
                guard digits > 0 else { throw .malformed("a chunk has no size") }
                switch byte {
                case Octet.semicolon: state = .sizeExtension
                case Octet.carriageReturn: state = .sizeEnd
                default: throw .malformed("a chunk's size is not hexadecimal")
                }
            }
        case .sizeExtension:
            if byte == Octet.carriageReturn {
                state = .sizeEnd
            } else if !Octet.isFieldContent(byte) {
                throw .malformed("a chunk extension holds a control character")
            }
        case .sizeEnd:
            try expectLineFeed(byte)
            state = remaining == 0 ? .trailerStart : .data
        case .dataEnd:
            guard byte == Octet.carriageReturn else { throw .malformed("a chunk is longer than its size") }
            state = .dataLineFeed
        case .dataLineFeed:
            try expectLineFeed(byte)
            // Each chunk may cost a few bytes: only those beyond count.
            overhead = max(0, overhead - 6)
            state = .size(digits: 0)
        case .trailerStart where byte == Octet.carriageReturn: state = .end
        case .trailerName where byte == Octet.colon: state = .trailer
        case .trailerStart, .trailerName:
            guard Octet.isToken(byte) else { throw .malformed("a trailer has no proper name") }
            state = .trailerName
        case .trailer:
            if byte == Octet.carriageReturn {
                state = .trailerEnd
            } else {
                guard Octet.isFieldContent(byte) else { throw .malformed("a trailer holds a control character") }
            }
        case .trailerEnd:
            try expectLineFeed(byte)
            state = .trailerStart
        case .end:
            try expectLineFeed(byte)
            state = .done
        case .data, .done: break
        }
    }

    private func expectLineFeed(_ byte: UInt8) throws(RequestFault) {
        guard byte == Octet.lineFeed else { throw .malformed("a line does not end in CR and LF") }
    }

    private static func hexValue(_ digit: UInt8) -> Int? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(digit - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(digit - UInt8(ascii: "A")) + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(digit - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}
