// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// The BIO between OpenSSL and a ``TLSTransport``.
///
/// It never blocks: a read without bytes says "try again", a write always succeeds. It never reports an end of
/// input; whether a connection ended cleanly is judged by the owner of the socket.
enum TransportBIO {
    /// Makes a BIO that holds on to the transport until it is freed.
    static func make(for transport: any TLSTransport) throws(OpenSSLError) -> OpaquePointer {
        guard let method = unsafe Method.shared.pointer, let bio = unsafe BIO_new(method) else {
            throw .draining(.libraryFailure, context: "TLS transport")
        }
        unsafe BIO_set_data(bio, Unmanaged.passRetained(Box(transport)).toOpaque())
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// A class around the existential, as C keeps a single pointer.
    final class Box {
        let transport: any TLSTransport

        init(_ transport: any TLSTransport) {
            self.transport = transport
        }
    }

    /// The transport's box, borrowed: the BIO keeps it alive for as long as OpenSSL can call back.
    static func box(of bio: OpaquePointer?) -> Box? {
        guard let data = unsafe BIO_get_data(bio) else { return nil }
        return unsafe Unmanaged<Box>.fromOpaque(data).takeUnretainedValue()
    }

    @safe
    private struct Method: @unchecked Sendable {
        // Unchecked because of the pointer: the table is filled here once and only read afterwards.
        static let shared = Method()

        let pointer: OpaquePointer?

        private init() {
            let index = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
            let method = unsafe BIO_meth_new(index, "gatehouse transport")
            unsafe BIO_meth_set_read_ex(method, readCallback)
            unsafe BIO_meth_set_write_ex(method, writeCallback)
            unsafe BIO_meth_set_ctrl(method, controlCallback)
            unsafe BIO_meth_set_destroy(method, destroyCallback)
            unsafe pointer = method
        }
    }
}

private func readCallback(
    bio: OpaquePointer?,
    bytes: UnsafeMutablePointer<CChar>?,
    limit: Int,
    count: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe gatehouse_BIO_clear_retry_flags(bio)
    unsafe count?.pointee = 0
    guard let box = unsafe TransportBIO.box(of: bio), let bytes = unsafe bytes, limit > 0 else { return 0 }
    var taken = 0
    box.transport.receive(upTo: limit) { span in
        // A transport that lends more than it was asked for must not write past OpenSSL's buffer.
        taken = min(limit, span.byteCount)
        unsafe span.withUnsafeBytes { source in
            guard let start = source.baseAddress else { return }
            unsafe UnsafeMutableRawPointer(bytes).copyMemory(from: start, byteCount: taken)
        }
    }
    unsafe count?.pointee = taken
    guard taken == 0 else { return 1 }
    unsafe gatehouse_BIO_set_retry_read(bio)
    return 0
}

private func writeCallback(
    bio: OpaquePointer?,
    bytes: UnsafePointer<CChar>?,
    count: Int,
    written: UnsafeMutablePointer<Int>?
) -> Int32 {
    unsafe gatehouse_BIO_clear_retry_flags(bio)
    unsafe written?.pointee = 0
    guard let box = unsafe TransportBIO.box(of: bio), let bytes = unsafe bytes else { return 0 }
    let source = unsafe UnsafeRawBufferPointer(start: bytes, count: count)
    box.transport.send(unsafe RawSpan(_unsafeBytes: source))
    unsafe written?.pointee = count
    return 1
}

/// Nothing is buffered here, so a flush has nothing to do; every other request is unknown (0).
private func controlCallback(
    bio: OpaquePointer?,
    command: Int32,
    number: Int,
    pointer: UnsafeMutableRawPointer?
) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}

/// Lets the transport go; OpenSSL calls this once, at the BIO's last reference.
private func destroyCallback(bio: OpaquePointer?) -> Int32 {
    guard let data = unsafe BIO_get_data(bio) else { return 1 }
    unsafe BIO_set_data(bio, nil)
    unsafe Unmanaged<TransportBIO.Box>.fromOpaque(data).release()
    return 1
}
