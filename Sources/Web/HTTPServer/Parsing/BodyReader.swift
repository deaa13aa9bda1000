// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPLimits
internal import NIOCore

/// Reads the body of one HTTP/1 request from the bytes of its connection.
struct BodyReader {
    private enum Framing {
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    private var framing: Framing
    private var pace: BodyPace

    /// Makes a reader; nil if the request has no body.
    init?(_ body: RequestHead.Body, at now: UInt64) {
        switch body {
        case .none, .length(0): return nil
        case .length(let length): framing = .length(length)
        case .chunked: framing = .chunked(ChunkedDecoder())
        }
        pace = BodyPace(at: now)
    }

    var isDone: Bool {
        switch framing {
        case .length(let remaining): remaining == 0
        case .chunked(let decoder): decoder.isDone
        }
    }

    /// Moves the bytes of the body from `input` to `output`; bytes after the body stay in `input`.
    mutating func read(
        _ input: inout ByteBuffer,
        into output: inout ByteBuffer,
        limits: HTTPLimits
    ) throws(RequestFault) {
        let before = output.readableBytes
        switch framing {
        case .length(let remaining):
            let count = min(remaining, input.readableBytes)
            if var data = input.readSlice(length: count) { output.writeBuffer(&data) }
            framing = .length(remaining - count)
        case .chunked(var decoder):
            try decoder.decode(&input, into: &output, limit: limits.body - pace.receivedCount)
            framing = .chunked(decoder)
        }
        pace.recordReceived(output.readableBytes - before)
    }

    /// Excludes a period in which the server did not read the body.
    mutating func exclude(_ nanoseconds: UInt64) { pace.exclude(nanoseconds) }

    func isTooSlow(at now: UInt64, times: TimeLimits) -> Bool { pace.isTooSlow(at: now, times: times) }
}

/// Decodes a chunked body (RFC 9112 section 7.1); extensions and trailers are dropped.
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
    // The number of bytes that are not data. It is limited, because RFC 9112 does not limit extensions and trailers.
    private var overhead = 0
    private static let maximumOverhead = 16_384

    var isDone: Bool {
        if case .done = state { true } else { false }
    }

    /// Removes the bytes of the body from `input` and appends at most `limit` bytes of decoded data to `output`.
    mutating func decode(_ input: inout ByteBuffer, into output: inout ByteBuffer, limit: Int) throws(RequestFault) {
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
                guard overhead <= Self.maximumOverhead else {
                    throw .malformed("the chunk extensions and trailers are too long")
                }
                try take(byte)
            }
        }
    }

    private mutating func take(_ byte: UInt8) throws(RequestFault) {
        switch state {
        case .size(let digits):
            if let value = Hexadecimal.value(of: byte) {
                // A number of 8 digits can exceed every limit for bodies, and cannot overflow an Int.
                guard digits < 8 else { throw .malformed("a chunk size has too many digits") }
                remaining = remaining << 4 | Int(value)
                state = .size(digits: digits + 1)
            } else {
                guard digits > 0 else { throw .malformed("a chunk has no size") }
                switch byte {
                case ASCII.semicolon: state = .sizeExtension
                case ASCII.carriageReturn: state = .sizeEnd
                default: throw .malformed("a chunk size is not hexadecimal")
                }
            }
        case .sizeExtension:
            if byte == ASCII.carriageReturn {
                state = .sizeEnd
            } else if !ASCII.isFieldContent(byte) {
                throw .malformed("a chunk extension contains a control character")
            }
        case .sizeEnd:
            try expectLineFeed(byte)
            state = remaining == 0 ? .trailerStart : .data
        case .dataEnd:
            guard byte == ASCII.carriageReturn else { throw .malformed("a chunk is longer than its size") }
            state = .dataLineFeed
        case .dataLineFeed:
            try expectLineFeed(byte)
            // Two digits and two line ends are not counted as overhead.
            overhead = max(0, overhead - 6)
            state = .size(digits: 0)
        case .trailerStart where byte == ASCII.carriageReturn: state = .end
        case .trailerName where byte == ASCII.colon: state = .trailer
        case .trailerStart, .trailerName:
            guard ASCII.isToken(byte) else { throw .malformed("a trailer has an invalid name") }
            state = .trailerName
        case .trailer:
            if byte == ASCII.carriageReturn {
                state = .trailerEnd
            } else {
                guard ASCII.isFieldContent(byte) else { throw .malformed("a trailer contains a control character") }
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
        guard byte == ASCII.lineFeed else { throw .malformed("a line does not end in CR and LF") }
    }
}
