// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Glibc

/// The number of bytes that arrive at a socket, which libpq reads and does not count.
///
/// It is exact for TCP. For other sockets, bytes that arrive while libpq reads are not counted.
struct InputSize {
    /// The maximum number of bytes; `Int.max` for none.
    let maximum: Int
    private let socket: Int32
    /// The number of bytes that the socket had received before; nil if the system does not count them, as for Unix sockets.
    private let start: UInt64?
    private var counted = 0

    /// True if more bytes have arrived than the maximum.
    private(set) var isTooLarge = false

    /// Creates a count that has no maximum.
    init() { self.init(-1, maximum: nil) }

    /// - Parameters:
    ///   - socket: The socket.
    ///   - maximum: The maximum number of bytes from now; nil for none.
    init(_ socket: Int32, maximum: Int?) {
        self.socket = socket
        self.maximum = maximum ?? .max
        start = maximum == nil ? nil : Self.received(socket)
    }

    /// Calls a function that reads from the socket, and counts what has arrived.
    ///
    /// - Parameter body: The function.
    /// - Returns: The result of the function.
    mutating func counting<Value>(_ body: () -> Value) -> Value {
        guard maximum < .max else { return body() }
        let before = start == nil ? Self.waiting(socket) : 0
        let value = body()
        if let start {
            if let now = Self.received(socket) { counted = Int(clamping: now &- start) }
        } else {
            // What arrives during the call is not counted.
            counted += max(0, before - Self.waiting(socket))
        }
        isTooLarge = counted > maximum
        return value
    }

    /// The number of bytes that wait to be read.
    private static func waiting(_ socket: Int32) -> Int {
        var count: Int32 = 0
        return unsafe ioctl(socket, UInt(FIONREAD), &count) == 0 ? Int(count) : 0
    }

    /// The number of all bytes that a TCP socket has received; nil if the system does not count them.
    private static func received(_ socket: Int32) -> UInt64? {
        // The C library does not have this field of the kernel's structure (tcpi_bytes_received in linux/tcp.h).
        let offset = 128
        let size = offset + MemoryLayout<UInt64>.size
        return unsafe withUnsafeTemporaryAllocation(byteCount: size, alignment: 8) { buffer in
            var length = socklen_t(size)
            guard unsafe getsockopt(socket, Int32(IPPROTO_TCP), TCP_INFO, buffer.baseAddress, &length) == 0,
                length == socklen_t(size)
            else { return nil }
            return unsafe buffer.load(fromByteOffset: offset, as: UInt64.self)
        }
    }
}
#endif
