// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// Memory for data derived from a password.
///
/// It is never moved, and is wiped at the end of its scope.
@safe
struct WipedBytes: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>

    /// Allocates memory filled with zeros.
    ///
    /// - Parameter count: The number of bytes, at least 1.
    init(count: Int) {
        unsafe storage = .allocate(capacity: count)
        unsafe storage.initialize(repeating: 0)
    }

    /// Copies bytes and appends a NUL, as in a C string.
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

    /// The number of bytes.
    var count: Int { unsafe storage.count }

    /// Calls `body` with the bytes.
    func withBytes<R, Failure: Error>(_ body: (Span<UInt8>) throws(Failure) -> R) throws(Failure) -> R {
        try body(unsafe UnsafeBufferPointer(storage).span)
    }

    /// Calls `body` with the bytes for writing.
    mutating func withMutableBytes<R, Failure: Error>(
        _ body: (inout MutableSpan<UInt8>) throws(Failure) -> R
    ) throws(Failure) -> R {
        var span = unsafe storage.mutableSpan
        return try body(&span)
    }

    /// Calls `body` with the address.
    func withPointer<R>(_ body: (UnsafeMutableRawPointer?) -> R) -> R {
        unsafe body(UnsafeMutableRawPointer(storage.baseAddress))
    }
}
