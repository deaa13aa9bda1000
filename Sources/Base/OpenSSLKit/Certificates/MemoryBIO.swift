// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// A BIO that collects the output of OpenSSL in memory, which is wiped when the BIO is freed.
@safe
struct MemoryBIO: ~Copyable {
    let pointer: OpaquePointer

    init(context: String) throws(OpenSSLError) {
        // BIO_s_secmem wipes its memory when it grows and when it is freed.
        guard let pointer = unsafe BIO_new(BIO_s_secmem()) else { throw .failed(context) }
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

    /// Returns the collected bytes as a string; bytes that are not UTF-8 become U+FFFD.
    func string() throws(OpenSSLError) -> String {
        try withBytes { bytes throws(OpenSSLError) in
            unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
        }
    }
}

/// Calls `body` with a read-only BIO over bytes, which are not copied because they may contain a key.
func withReadBIO<R>(
    over bytes: Span<UInt8>,
    context: String,
    _ body: (OpaquePointer) throws(OpenSSLError) -> R
) throws(OpenSSLError) -> R {
    try unsafe bytes.withUnsafeBufferPointer { buffer throws(OpenSSLError) in
        guard let count = Int32(exactly: buffer.count), count > 0,
            let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, count)
        else { throw .failed(context) }
        defer { _ = unsafe BIO_free(bio) }
        return try unsafe body(bio)
    }
}

/// Reads all PEM objects of a kind, in order, by a function that returns nil where OpenSSL finds no further object.
func readPEM<Object>(
    _ pem: Span<UInt8>,
    context: String,
    kind: String,
    errors: (missing: OpenSSLError.Code, malformed: OpenSSLError.Code),
    next: (OpaquePointer) throws(OpenSSLError) -> Object?
) throws(OpenSSLError) -> [Object] {
    guard !pem.isEmpty else { throw OpenSSLError(errors.missing, context: context) }
    ErrorQueue.clear()
    return try unsafe withReadBIO(over: pem, context: context) { bio throws(OpenSSLError) in
        var objects: [Object] = []
        while let object = try unsafe next(bio) { objects.append(object) }
        // At the end of the text OpenSSL reports the error "no start line".
        let entries = ErrorQueue.drain()
        guard let last = entries.last, last.library == ERR_LIB_PEM, last.reason == PEM_R_NO_START_LINE else {
            let place = "\(context), \(kind) \(objects.count + 1)"
            throw OpenSSLError(errors.malformed, context: place, reasons: entries.map(\.text))
        }
        guard !objects.isEmpty else { throw OpenSSLError(errors.missing, context: context) }
        return objects
    }
}

/// Returns the DER form that an `i2d` function of OpenSSL writes, or only measures for nil; nil if it fails.
func derForm(_ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let count = write(nil)
    guard count > 0 else { return nil }
    var der = [UInt8](repeating: 0, count: Int(count))
    let written = unsafe der.withUnsafeMutableBufferPointer { buffer in
        var start = buffer.baseAddress
        return unsafe write(&start)
    }
    return written == count ? der : nil
}
