// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Allocates a buffer for each read from a connection, so that a connection that waits holds no memory for reading.
///
/// SwiftNIO keeps the first buffer of a connection, and reads into it again. For a connection that reads once per turn
/// of its event loop (`maxMessagesPerRead` is 1), it keeps no other buffer, if the allocator announces that the next
/// buffer may be larger. So the first buffer is tiny, and is never used again: the first read takes the beginning of the
/// handshake. The allocations make no difference that `make bench-http` would show.
struct UnpooledReceiveBuffers: RecvByteBufferAllocator {
    /// The size of the buffer that SwiftNIO keeps, in bytes.
    ///
    /// A smaller one would occupy as much memory.
    static let keptSize = 16
    /// The size of a buffer in bytes; most requests fit.
    static let usualSize = 2048
    /// The size of the buffer after a read that has filled its buffer, in bytes.
    ///
    /// The records of TLS have up to 16 KiB.
    static let largeSize = 32_768

    private var size = keptSize

    func buffer(allocator: ByteBufferAllocator) -> ByteBuffer { allocator.buffer(capacity: size) }

    mutating func record(actualReadBytes count: Int) -> Bool {
        size = size > Self.keptSize && count >= size ? Self.largeSize : Self.usualSize
        return true
    }
}
