// SPDX-License-Identifier: Apache-2.0
// Gatehouse

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Working memory for what is made of a password: zero at first, never moved, wiped at the end of its scope.
@safe
struct WipedBytes: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// So many zeros.
    ///
    /// - Parameter count: 1 or more.
    init(count: Int) {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
    }

    /// A copy of bytes with a NUL behind them, as C wants its strings.
    init(terminating bytes: Span<UInt8>) {
        self.init(count: bytes.count + 1)
        withMutableBytes { own in
            for index in bytes.indices { own[index] = bytes[index] }
        }
    }

    deinit {
        if let start = unsafe storage.baseAddress { unsafe explicit_bzero(start, storage.count) }
        unsafe storage.deallocate()
    }

    /// How many bytes there are.
    var count: Int { unsafe storage.count }

    /// Lends the bytes.
    func withBytes<R, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> R) throws(Failure) -> R {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    /// Lends the bytes, to be written.
    mutating func withMutableBytes<R, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> R
    ) throws(Failure) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    /// Lends the address.
    func withPointer<R>(_ body: (UnsafeMutableRawPointer?) -> R) -> R {
        unsafe body(UnsafeMutableRawPointer(storage.baseAddress))
    }
}
