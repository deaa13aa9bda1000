// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// Reads the body of one request out of a connection's bytes.
struct BodyReader {
    private enum Framing {
        case length(Int)
        case chunked(ChunkedDecoder)
    }

    private var framing: Framing
    private var received = 0
    private var began: UInt64

    /// A reader; nil if there is no body to read.
    init?(_ body: RequestHead.Body, began: UInt64) {
        switch body {
        case .none, .length(0): return nil
        case .length(let length): framing = .length(length)
        case .chunked: framing = .chunked(ChunkedDecoder())
        }
        self.began = began
    }

    /// Whether all of it has been read.
    var isDone: Bool {
        switch framing {
        case .length(let remaining): remaining == 0
        case .chunked(let decoder): decoder.isDone
        }
    }

    /// Takes what there is of the body, and nothing behind it.
    mutating func read(
        _ input: inout ByteBuffer,
        into output: inout ByteBuffer,
        _ limits: HTTPLimits
    ) throws(RequestFault) {
        let before = output.readableBytes
        switch framing {
        case .length(let remaining):
            let count = min(remaining, input.readableBytes)
            if var data = input.readSlice(length: count) { output.writeBuffer(&data) }
            framing = .length(remaining - count)
        case .chunked(var decoder):
            try decoder.decode(&input, into: &output, limit: limits.body - received)
            framing = .chunked(decoder)
        }
        received += output.readableBytes - before
    }

    /// Leaves out some time in which nothing of it was taken, through no fault of the client's.
    mutating func excuse(_ nanoseconds: UInt64) {
        began &+= nanoseconds
    }

    /// Whether it comes more slowly than is allowed.
    func isTooSlow(_ now: UInt64, _ loop: ConnectionLoop) -> Bool {
        loop.isTooSlow(received: received, since: began, now)
    }
}
