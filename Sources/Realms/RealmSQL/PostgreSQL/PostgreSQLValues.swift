// SPDX-License-Identifier: Apache-2.0

#if PostgreSQL
internal import Glibc
internal import RealmKit

/// The number of bytes that arrive at a TCP socket, which libpq reads and does not count.
///
/// An answer over a Unix socket is refused when it is complete.
struct InputSize {
    /// The maximum number of bytes; `Int.max` for none.
    let maximum: Int
    private let socket: Int32
    /// The number of bytes that the socket had received before; nil if there is no maximum, or the system does not count.
    private let start: UInt64?
    private(set) var isTooLarge = false

    /// Counts the bytes from now; the maximum is nil for none.
    init(_ socket: Int32 = -1, maximum: Int? = nil) {
        self.socket = socket
        self.maximum = maximum ?? .max
        start = maximum == nil ? nil : Self.received(socket)
    }

    /// Counts what has arrived.
    mutating func update() {
        guard let start, let now = Self.received(socket) else { return }
        isTooLarge = Int(clamping: now &- start) > maximum
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

/// Texts as C strings; they are wiped at the end.
@safe
struct CStrings: ~Copyable {
    private let pointers: UnsafeMutableBufferPointer<UnsafePointer<CChar>?>

    /// Copies texts without NUL, and optionally a secret after them.
    init(_ texts: [String], last secret: Secret? = nil) {
        let count = texts.count + (secret == nil ? 0 : 1)
        unsafe pointers = .allocate(capacity: count + 1)
        unsafe pointers.initialize(repeating: nil)
        for (place, text) in texts.enumerated() {
            unsafe pointers[place] = text.utf8Span.span.withUnsafeBufferPointer { unsafe Self.copy($0) }
        }
        if let secret {
            unsafe pointers[count - 1] = secret.withBytes { bytes in
                unsafe bytes.withUnsafeBufferPointer { unsafe Self.copy($0) }
            }
        }
    }

    deinit {
        for place in unsafe pointers.indices {
            guard let text = unsafe pointers[place] else { continue }
            let bytes = unsafe UnsafeMutablePointer(mutating: text)
            unsafe explicit_bzero(bytes, strlen(bytes))
            unsafe bytes.deallocate()
        }
        unsafe pointers.deallocate()
    }

    private static func copy(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafePointer<CChar> {
        let copy = UnsafeMutablePointer<CChar>.allocate(capacity: bytes.count + 1)
        for place in bytes.indices { unsafe copy[place] = CChar(bitPattern: bytes[place]) }
        unsafe copy[bytes.count] = 0
        return unsafe UnsafePointer(copy)
    }

    /// Calls a function with the strings, with nil after the last one.
    func withPointers<Result>(_ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Result) -> Result {
        unsafe body(UnsafePointer(pointers.baseAddress))
    }
}
#endif
