// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import OpenSSLKit

/// The two queues of ciphertext between a channel and its TLS connection.
final class ByteBufferTransport: TLSTransport {
    private let allocator = ByteBufferAllocator()
    private var input = ByteBuffer()
    private var output = ByteBuffer()

    /// How many received bytes OpenSSL has not taken yet.
    var receivedCount: Int { input.readableBytes }

    /// How many bytes are to be sent.
    var outputCount: Int { output.readableBytes }

    /// Appends what the channel has read; without a copy if everything before has been taken.
    func append(_ ciphertext: ByteBuffer) {
        if input.readableBytes == 0 {
            input = ciphertext
        } else {
            input.writeImmutableBuffer(ciphertext)
        }
    }

    /// Forgets what was received, and its storage.
    func dropInput() {
        input = ByteBuffer()
    }

    /// Makes room for ciphertext, so that one piece of plaintext does not grow the buffer step by step.
    func reserveOutput(_ count: Int) {
        if output.capacity == 0 {
            output = allocator.buffer(capacity: count)
        } else {
            output.reserveCapacity(minimumWritableBytes: count)
        }
    }

    /// Hands over what is to be sent.
    func takeOutput() -> ByteBuffer {
        defer { output = ByteBuffer() }
        return output
    }

    func receive(upTo limit: Int, _ take: (RawSpan) -> Void) {
        let count = min(limit, input.readableBytes)
        guard count > 0 else { return }
        take(input.readableBytesSpan.extracting(first: count))
        input.moveReaderIndex(forwardBy: count)
        // An idle connection keeps no buffer.
        if input.readableBytes == 0 { input = ByteBuffer() }
    }

    func send(_ ciphertext: RawSpan) {
        output.writeBytes(ciphertext)
    }
}
