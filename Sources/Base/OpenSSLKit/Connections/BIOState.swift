// SPDX-License-Identifier: Apache-2.0

internal import COpenSSL

/// The input and output buffers of a connection's BIO, which ``TLSConnection`` sets before a call and clears after it.
///
/// The BIO never blocks: a read without input returns "try again", and a write always succeeds. It never reports an end
/// of input, because the owner of the socket decides whether a connection has ended cleanly. A buffer is a pointer and
/// a count and not an object, because the callbacks run several times for each record.
@unsafe
struct BIOState {
    /// The next byte of the input.
    private(set) var input: UnsafeRawPointer?
    /// The number of input bytes that are left.
    private(set) var inputCount = 0
    /// True if OpenSSL has tried to read beyond the end of the input.
    private(set) var isStarved = false
    private var output: UnsafeMutableRawPointer?
    private var outputSpace = 0
    private var outputCount = 0
    /// The bytes to send that did not fit into the output space: handshake messages, alerts, answers to KeyUpdates.
    var unsent: [UInt8] = []
    /// The number of protocol messages since the last plaintext.
    private var consecutiveMessages = 0
    /// The number of protocol messages since the handshake.
    private var messages = 0
    /// The server name that the client has sent, in lower case and without a dot at the end; nil if none was sent.
    var serverName: String?
    /// The chain of the client's certificate in a resumed session, verified again in this handshake.
    var resumedChain: [Certificate] = []

    /// True if the peer sends too many protocol messages, such as KeyUpdates, without data.
    ///
    /// A message takes as long as a record of data, and one read may contain thousands of them. BoringSSL has the same
    /// limit of 32 in a row.
    var isFlooded: Bool { unsafe consecutiveMessages > 32 || messages > 4096 }

    mutating func countMessage() {
        unsafe consecutiveMessages += 1
        unsafe messages += 1
    }

    mutating func resetMessageCounts() {
        unsafe consecutiveMessages = 0
        unsafe messages = 0
    }

    mutating func resetConsecutiveMessages() { unsafe consecutiveMessages = 0 }

    mutating func setInput(_ bytes: UnsafeRawBufferPointer) {
        unsafe input = bytes.baseAddress
        unsafe inputCount = bytes.count
        unsafe isStarved = false
    }

    mutating func clearInput() {
        unsafe input = nil
        unsafe inputCount = 0
    }

    mutating func setOutput(space: UnsafeMutableRawPointer?, count: Int) {
        unsafe output = space
        unsafe outputSpace = count
        unsafe outputCount = 0
        unsafe isStarved = false
    }

    /// Removes the output space, and returns the number of bytes that were written to it.
    mutating func clearOutput() -> Int {
        defer { unsafe outputCount = 0 }
        unsafe output = nil
        unsafe outputSpace = 0
        return unsafe outputCount
    }

    fileprivate mutating func read(_ limit: Int, into bytes: UnsafeMutableRawPointer) -> Int {
        let count = unsafe min(limit, inputCount)
        guard count > 0, let start = unsafe input else {
            unsafe isStarved = true
            return 0
        }
        unsafe bytes.copyMemory(from: start, byteCount: count)
        unsafe input = start + count
        unsafe inputCount -= count
        return count
    }

    fileprivate mutating func write(_ bytes: UnsafeRawPointer, count: Int) {
        // If there are unsent bytes, later bytes are appended to them, so that the order is kept.
        if let output = unsafe output, unsafe count <= outputSpace, unsafe unsent.isEmpty {
            unsafe output.copyMemory(from: bytes, byteCount: count)
            unsafe self.output = output + count
            unsafe outputSpace -= count
            unsafe outputCount += count
        } else {
            unsafe unsent.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    /// Makes a BIO over a state that must exist as long as the BIO.
    static func makeBIO(over bioState: UnsafeMutablePointer<BIOState>) throws(OpenSSLError) -> OpaquePointer {
        guard let method = unsafe Method.shared.pointer, let bio = unsafe BIO_new(method) else {
            throw .failed("TLS transport")
        }
        unsafe BIO_set_data(bio, bioState)
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// Returns the state that a BIO uses.
    static func of(_ bio: OpaquePointer?) -> UnsafeMutablePointer<BIOState>? {
        unsafe BIO_get_data(bio)?.assumingMemoryBound(to: BIOState.self)
    }

    @safe
    private struct Method: @unchecked Sendable {
        // Unchecked because of the pointer. The table is filled once in init and only read afterwards.
        static let shared = Method()

        let pointer: OpaquePointer?

        private init() {
            let index = BIO_get_new_index() | BIO_TYPE_SOURCE_SINK
            let method = unsafe BIO_meth_new(index, "gatehouse exchange")
            unsafe BIO_meth_set_read_ex(method, readCallback)
            unsafe BIO_meth_set_write_ex(method, writeCallback)
            unsafe BIO_meth_set_ctrl(method, controlCallback)
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
    guard let bioState = unsafe BIOState.of(bio), let bytes = unsafe bytes, limit > 0 else { return 0 }
    // A result of 0 without the retry flag is an error, which makes OpenSSL stop reading.
    guard unsafe !bioState.pointee.isFlooded else { return 0 }
    let taken = unsafe bioState.pointee.read(limit, into: bytes)
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
    guard let bioState = unsafe BIOState.of(bio), let bytes = unsafe bytes else { return 0 }
    unsafe bioState.pointee.write(bytes, count: count)
    unsafe written?.pointee = count
    return 1
}

/// Called by OpenSSL with a control request: a flush succeeds, because nothing is buffered, and others are unknown.
private func controlCallback(
    bio: OpaquePointer?,
    command: Int32,
    number: Int,
    pointer: UnsafeMutableRawPointer?
) -> Int {
    command == BIO_CTRL_FLUSH ? 1 : 0
}

/// Called by OpenSSL for each protocol message: counts the messages of the peer, and the alerts to the peer.
func messageCallback(
    isWrite: Int32,
    version: Int32,
    type: Int32,
    bytes: UnsafeRawPointer?,
    count: Int,
    ssl: OpaquePointer?,
    data: UnsafeMutableRawPointer?
) {
    let isOfPeer = isWrite == 0 && type == SSL3_RT_HANDSHAKE
    guard isOfPeer || isWrite == 1 && type == SSL3_RT_ALERT else { return }
    unsafe BIOState.of(SSL_get_rbio(ssl))?.pointee.countMessage()
}
