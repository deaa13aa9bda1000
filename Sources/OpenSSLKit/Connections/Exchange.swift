// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import COpenSSL

/// What OpenSSL sees of the network: bytes and space that are lent to it while one function of ``TLSConnection`` runs.
///
/// The BIO over it never blocks: a read without bytes says "try again", a write always succeeds. It never reports an
/// end of input; whether a connection ended cleanly is judged by the owner of the socket. A pointer and a count each
/// way, and no object: the callbacks run several times per record.
@unsafe
struct Exchange {
    /// The next byte of the ciphertext lent.
    private(set) var input: UnsafeRawPointer?
    /// How many bytes of it are left.
    private(set) var inputCount = 0
    /// Whether OpenSSL has asked for more than there was since the bytes were lent.
    private(set) var isStarved = false
    private var output: UnsafeMutableRawPointer?
    private var outputSpace = 0
    private var outputCount = 0
    /// What was to be sent when no space was lent, or not enough of it: handshake messages, alerts, answers.
    var unsent: [UInt8] = []
    /// How many messages of TLS itself have come since plaintext last came out, and since the handshake.
    private var messagesInARow = 0
    private var messages = 0
    /// The name that the client has asked for, in lower case and without a dot at its end.
    var serverName: String?
    /// The chain of a resumed session's certificate, found good in this handshake.
    var resumedChain: [Certificate] = []

    /// Whether the peer sends messages of TLS itself, KeyUpdates that is, where it should send data.
    ///
    /// Each takes as long as a record of data and brings nothing; a read may hold thousands. 32 in a row is BoringSSL's bound.
    var isFlooded: Bool { unsafe messagesInARow > 32 || messages > 4096 }

    mutating func noteMessage() {
        unsafe messagesInARow += 1
        unsafe messages += 1
    }

    mutating func noteHandshakeCompleted() {
        unsafe messagesInARow = 0
        unsafe messages = 0
    }

    mutating func notePlaintext() {
        unsafe messagesInARow = 0
    }

    mutating func lend(_ bytes: UnsafeRawBufferPointer) {
        unsafe input = bytes.baseAddress
        unsafe inputCount = bytes.count
        unsafe isStarved = false
    }

    mutating func takeBackInput() {
        unsafe input = nil
        unsafe inputCount = 0
    }

    mutating func lend(space: UnsafeMutableRawPointer?, count: Int) {
        unsafe output = space
        unsafe outputSpace = count
        unsafe outputCount = 0
        unsafe isStarved = false
    }

    /// Ends the loan of space; gives how many bytes are in it.
    mutating func takeBackOutput() -> Int {
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

    fileprivate mutating func write(_ bytes: UnsafeRawPointer, _ count: Int) {
        // Once something is in `unsent`, what follows has its place behind it.
        if let output = unsafe output, unsafe count <= outputSpace, unsafe unsent.isEmpty {
            unsafe output.copyMemory(from: bytes, byteCount: count)
            unsafe self.output = output + count
            unsafe outputSpace -= count
            unsafe outputCount += count
        } else {
            unsafe unsent.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        }
    }

    /// Makes a BIO over an exchange, which must live longer than the BIO does.
    static func makeBIO(over exchange: UnsafeMutablePointer<Exchange>) throws(OpenSSLError) -> OpaquePointer {
        guard let method = unsafe Method.shared.pointer, let bio = unsafe BIO_new(method) else {
            throw .draining(.libraryFailure, context: "TLS transport")
        }
        unsafe BIO_set_data(bio, exchange)
        unsafe BIO_set_init(bio, 1)
        return unsafe bio
    }

    /// The exchange of a connection, by SSL_get_rbio(3) or in a callback.
    static func of(_ bio: OpaquePointer?) -> UnsafeMutablePointer<Exchange>? {
        unsafe BIO_get_data(bio)?.assumingMemoryBound(to: Exchange.self)
    }

    @safe
    private struct Method: @unchecked Sendable {
        // Unchecked because of the pointer: the table is filled here once and only read afterwards.
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
    guard let exchange = unsafe Exchange.of(bio), let bytes = unsafe bytes, limit > 0 else { return 0 }
    // An error without a retry: whoever called OpenSSL sees that it goes no further.
    guard unsafe !exchange.pointee.isFlooded else { return 0 }
    let taken = unsafe exchange.pointee.read(limit, into: bytes)
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
    guard let exchange = unsafe Exchange.of(bio), let bytes = unsafe bytes else { return 0 }
    unsafe exchange.pointee.write(bytes, count)
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

/// Counts the messages of TLS itself that a peer sends, and the alerts that it makes this side send.
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
    unsafe Exchange.of(SSL_get_rbio(ssl))?.pointee.noteMessage()
}
