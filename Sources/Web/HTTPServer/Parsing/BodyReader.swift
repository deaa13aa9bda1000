// SPDX-License-Identifier: Apache-2.0

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

    /// True if all of the body has been read.
    var isDone: Bool {
        switch framing {
        case .length(let remaining): remaining == 0
        case .chunked(let decoder): decoder.isDone
        }
    }

    /// Moves the bytes of the body from `input` to `output`.
    ///
    /// Bytes after the body stay in `input`.
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

    /// Returns whether the body arrives too slowly.
    func isTooSlow(at now: UInt64, times: TimeLimits) -> Bool { pace.isTooSlow(at: now, times: times) }
}
