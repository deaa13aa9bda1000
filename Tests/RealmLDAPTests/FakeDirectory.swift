// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Glibc
import Synchronization

/// A directory server on the loopback interface that answers each request as a test has scripted it.
///
/// It reads the requests of RFC 4511, and writes any bytes.
final class FakeDirectory: Sendable {
    /// A request of a client.
    struct Request: Sendable, Hashable {
        /// The operations that the tests need, with their tags.
        enum Operation: UInt8, Sendable {
            case bind = 0x60
            case unbind = 0x42
            case search = 0x63
            case extended = 0x77
        }

        let number: Int
        let operation: Operation
        /// All bytes of the operation after its length.
        let content: [UInt8]
    }

    /// One step of the server after a request.
    enum Step: Sendable {
        case send([UInt8])
        /// Sends one byte after the other, with a time between them.
        case drip([UInt8], Duration)
        case hang
        case close
    }

    /// The error if no port can be opened.
    struct NoPort: Error {}

    private struct State {
        var requests: [Request] = []
        var connections: [Int32] = []
        var script: @Sendable (Request) -> [Step]
        var greeting: [Step]
    }

    let port: Int
    private let listener: Int32
    private let state: Mutex<State>

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - greeting: The steps after a connection was accepted.
    ///   - script: Returns the steps after a request.
    /// - Throws: ``NoPort``.
    init(greeting: [Step] = [], _ script: @escaping @Sendable (Request) -> [Step]) throws {
        state = Mutex(State(script: script, greeting: greeting))
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                unsafe bind(listener, pointer, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, pointer, &length) == 0
            }
        }
        guard isBound else { throw NoPort() }
        self.listener = listener
        port = Int(in_port_t(bigEndian: address.sin_port))
        Self.startThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0, let self else { return }
                self.state.withLock { $0.connections.append(connection) }
                Self.startThread { [weak self] in self?.serve(connection) }
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
        state.withLock { state in for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    var url: String { "ldap://127.0.0.1:\(port)" }
    var requests: [Request] { state.withLock { $0.requests } }
    /// The number of connections so far.
    var connections: Int { state.withLock { $0.connections.count } }

    /// Changes the answers to later requests and connections.
    func answer(greeting: [Step] = [], _ script: @escaping @Sendable (Request) -> [Step]) {
        state.withLock { ($0.script, $0.greeting) = (script, greeting) }
    }

    /// Sends bytes on all open connections, unasked.
    func sendUnasked(_ bytes: [UInt8]) {
        for connection in state.withLock({ $0.connections }) { _ = Self.send(bytes, on: connection) }
    }

    private static func startThread(_ body: @escaping @Sendable () -> Void) {
        final class Box: Sendable {
            let body: @Sendable () -> Void
            init(_ body: @escaping @Sendable () -> Void) { self.body = body }
        }
        var thread = pthread_t()
        let context = unsafe Unmanaged.passRetained(Box(body)).toOpaque()
        let start: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { context in
            if let context = unsafe context { unsafe Unmanaged<Box>.fromOpaque(context).takeRetainedValue().body() }
            return nil
        }
        _ = unsafe pthread_create(&thread, nil, start, context)
        pthread_detach(thread)
    }

    private func serve(_ connection: Int32) {
        guard perform(state.withLock { $0.greeting }, on: connection) else { return }
        while let request = Self.read(connection) {
            let script = state.withLock { state in
                state.requests.append(request)
                return state.script
            }
            guard perform(script(request), on: connection) else { return }
        }
    }

    /// Returns false if the connection serves no more requests.
    private func perform(_ steps: [Step], on connection: Int32) -> Bool {
        for step in steps {
            switch step {
            case .send(let bytes): guard Self.send(bytes, on: connection) else { return false }
            case .drip(let bytes, let pause):
                for byte in bytes {
                    guard Self.send([byte], on: connection) else { return false }
                    usleep(UInt32(pause / .microseconds(1)))
                }
            case .hang: return false
            case .close:
                shutdown(connection, Int32(SHUT_RDWR))
                return false
            }
        }
        return true
    }

    private static func send(_ bytes: [UInt8], on connection: Int32) -> Bool {
        unsafe bytes.withUnsafeBytes { bytes in
            unsafe Glibc.send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
        }
    }

    // MARK: Requests

    private static func read(_ connection: Int32) -> Request? {
        guard let (tag, message) = element(connection), tag == 0x30 else { return nil }
        var rest = message[...]
        guard let number = BER.read(&rest), number.tag == 2, let operation = BER.read(&rest),
            let kind = Request.Operation(rawValue: operation.tag)
        else { return nil }
        return Request(
            number: number.content.reduce(0) { $0 << 8 | Int($1) },
            operation: kind,
            content: Array(operation.content)
        )
    }

    private static func element(_ connection: Int32) -> (tag: UInt8, content: [UInt8])? {
        guard let head = receive(2, connection) else { return nil }
        var length = Int(head[1])
        if length >= 0x80 {
            guard let digits = receive(length - 0x80, connection) else { return nil }
            length = digits.reduce(0) { $0 << 8 | Int($1) }
        }
        return receive(length, connection).map { (head[0], $0) }
    }

    private static func receive(_ count: Int, _ connection: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return bytes }
        let received = unsafe bytes.withUnsafeMutableBytes { bytes in
            unsafe recv(connection, bytes.baseAddress, bytes.count, Int32(MSG_WAITALL))
        }
        return received == count ? bytes : nil
    }
}

/// The encoding of LDAP.
enum BER {
    static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let length = UInt32(content.count)
        return [tag, 0x84] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * UInt32($0))) } + content
    }

    static func text(_ text: String) -> [UInt8] { element(4, Array(text.utf8)) }

    static func number(_ number: Int) -> [UInt8] {
        element(2, (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) })
    }

    /// Returns a message with an operation.
    static func message(_ number: Int, _ operation: [UInt8]) -> [UInt8] {
        element(0x30, self.number(number) + operation)
    }

    /// Returns the result of an operation, such as 0x61 for a bind and 0x65 for a search.
    static func result(
        _ number: Int,
        _ tag: UInt8,
        code: UInt8 = 0,
        _ message: String = "",
        more: [UInt8] = []
    ) -> [UInt8] {
        self.message(number, element(tag, [0x0A, 1, code] + text("") + text(message) + more))
    }

    /// Returns an entry of a search.
    static func entry(_ number: Int, _ name: String, _ attributes: [(String, [String])]) -> [UInt8] {
        let list = attributes.flatMap { name, values in
            element(0x30, text(name) + element(0x31, values.flatMap(text)))
        }
        return message(number, element(0x64, text(name) + element(0x30, list)))
    }

    /// The message that a server sends before it closes a connection (RFC 4511 section 4.4.1).
    static var noticeOfDisconnection: [UInt8] {
        let name = element(0x8A, Array("1.3.6.1.4.1.1466.20036".utf8))
        return result(0, 0x78, code: 52, "the server ends", more: name)
    }

    /// Reads the next element.
    static func read(_ bytes: inout ArraySlice<UInt8>) -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), var length = bytes.popFirst().map(Int.init) else { return nil }
        if length >= 0x80 {
            let digits = bytes.prefix(length - 0x80)
            bytes = bytes.dropFirst(digits.count)
            length = digits.reduce(0) { $0 << 8 | Int($1) }
        }
        let content = bytes.prefix(length)
        guard content.count == length else { return nil }
        bytes = bytes.dropFirst(length)
        return (tag, content)
    }
}
#endif
