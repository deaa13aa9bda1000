// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A BIO that collects the output of OpenSSL in memory.
///
/// The memory is wiped when the BIO is freed.
@safe
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init(context: String) throws(OpenSSLError) {
        // BIO_s_secmem wipes its memory when it grows and when it is freed.
        guard let pointer = unsafe BIO_new(BIO_s_secmem()) else {
            throw .draining(.libraryFailure, context: context)
        }
        unsafe self.pointer = pointer
    }

    deinit { _ = unsafe BIO_free(pointer) }

    /// Calls `body` with the collected bytes.
    func withBytes<R>(_ body: (Span<UInt8>) throws(OpenSSLError) -> R) throws(OpenSSLError) -> R {
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe gatehouse_BIO_get_mem_data(pointer, &start)
        let raw = unsafe UnsafeRawBufferPointer(start: start, count: max(0, count))
        return try body(unsafe Span(_unsafeBytes: raw))
    }

    /// Returns the collected bytes as a string.
    ///
    /// Bytes that are not UTF-8 become U+FFFD.
    func string() throws(OpenSSLError) -> String {
        try withBytes { bytes throws(OpenSSLError) in
            unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// Calls `body` with a read-only BIO over bytes.
///
/// The bytes are not copied, because they may contain a key.
func withReadBIO<R>(
    over bytes: Span<UInt8>,
    context: String,
    _ body: (OpaquePointer) throws(OpenSSLError) -> R
) throws(OpenSSLError) -> R {
    try unsafe bytes.withUnsafeBufferPointer { buffer throws(OpenSSLError) in
        guard let count = Int32(exactly: buffer.count), count > 0,
            let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count)
        else { throw .draining(.libraryFailure, context: context) }
        defer { _ = unsafe BIO_free(bio) }
        return try unsafe body(bio)
    }
}
