// SPDX-License-Identifier: Apache-2.0

import NIOCore
import Testing

@testable import HTTPServer

@Suite struct UnpooledReceiveBuffersTests {
    /// Reads a number of bytes into the next buffer of a pool, as a channel of SwiftNIO does, and returns the buffer.
    private static func read(_ count: Int, into pool: inout NIOPooledRecvBufferAllocator) -> ByteBuffer {
        let (buffer, taken) = pool.buffer(allocator: ByteBufferAllocator()) { buffer in
            let taken = min(count, buffer.writableBytes)
            buffer.writeRepeatingByte(1, count: taken)
            return taken
        }
        pool.record(actualReadBytes: taken)
        return buffer
    }

    @Test func `the pool of a channel keeps only the first buffer, which is tiny, and never uses it again`() {
        var pool = NIOPooledRecvBufferAllocator(capacity: 1, recvAllocator: UnpooledReceiveBuffers())
        let first = Self.read(500, into: &pool)
        #expect(first.storageCapacity == UnpooledReceiveBuffers.keptSize)
        for count in [1, 500, 1500, 20, 2000, 3] {
            let buffer = Self.read(count, into: &pool)
            #expect(buffer.storageCapacity == UnpooledReceiveBuffers.usualSize)
            #expect(buffer.readableBytes == count)
            #expect(pool.count == 1)
        }
        #expect(first.readableBytes == UnpooledReceiveBuffers.keptSize)
    }

    @Test func `a read that fills its buffer is followed by a larger one, and a short read by one of the usual size`() {
        var pool = NIOPooledRecvBufferAllocator(capacity: 1, recvAllocator: UnpooledReceiveBuffers())
        let sizes = [100_000, 100_000, 100_000, 100_000, 10, 10].map { Self.read($0, into: &pool).storageCapacity }
        #expect(sizes == [16, 2048, 32_768, 32_768, 32_768, 2048])
    }
}
