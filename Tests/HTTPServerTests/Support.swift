// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Bytes
import HTTPLimits
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOEmbedded
import NIOOpenSSL
import OpenSSLKit
import SeededRandom
import Synchronization

@testable import HTTPServer

/// A connection without TLS, whose client the test controls.
///
/// All functions are called on the connection's event loop.
final class Line {
    let channel: any Channel
    let connections: EventLoopState
    let wire: Wire
    /// The number of calls of the connection's `onEnd`.
    private(set) var ends = 0
    private(set) weak var handler: HTTP1Handler?
    /// An exchange of the connection. Tests check when it is freed.
    weak var exchange: HTTP1Exchange?

    init(
        _ channel: any Channel,
        _ connections: EventLoopState,
        setWritable: @escaping (Bool) -> Void,
        isHandshaken: Bool = true
    ) throws {
        self.channel = channel
        self.connections = connections
        wire = Wire(setWritable)
        let handler = HTTP1Handler(connections, onError: { _, _ in }) { [unowned(safe) self] in ends += 1 }
        self.handler = handler
        try channel.pipeline.syncOperations.addHandlers([wire, handler])
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        channel.read()
        if isHandshaken { shakeHands() }
    }

    func shakeHands() {
        channel.pipeline.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(negotiatedProtocol: "http/1.1", version: .tls13, cipher: "TLS_AES_128_GCM_SHA256")
        )
    }

    /// Delivers bytes to the connection in one read.
    func bring(_ bytes: ByteBuffer) {
        guard !wire.isClosed else { return }
        channel.pipeline.fireChannelRead(bytes)
        channel.pipeline.fireChannelReadComplete()
        // autoRead also calls read() after each read.
        channel.read()
    }

    func bring(_ text: String) { bring(ByteBuffer(string: text)) }

    /// Closes the client's sending direction.
    func endInput() {
        channel.pipeline.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }

    /// Disconnects the client.
    func drop() { channel.close(promise: nil) }

    var text: String { String(buffer: wire.taken) }
}

/// The network between the connection and its client. It keeps sent bytes until the client reads them.
final class Wire: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// The bytes that the client has read.
    private(set) var taken = ByteBuffer()
    /// The number of calls of `read()` that reached the network.
    private(set) var readCount = 0
    private(set) var flushCount = 0
    /// True if the connection has closed its outgoing direction and the client has read all bytes.
    private(set) var isOutputClosed = false
    private(set) var isClosed = false
    /// The number of attempts to close the outgoing direction.
    private(set) var outputCloseCount = 0
    /// The largest number of bytes that have waited for the client.
    private(set) var most = 0
    /// True if the client reads all bytes at once.
    var isTaking = true
    /// Called at the end of each flush.
    var onFlush: ((ChannelHandlerContext) -> Void)?

    private typealias Entry = (data: ByteBuffer, promise: EventLoopPromise<Void>?)
    private var unflushed: [Entry] = []
    private var waiting: [Entry] = []
    private var waitingCount = 0
    private var isWritable = true
    private var isOutputClosing = false
    private var outputClose: EventLoopPromise<Void>?
    private let setWritable: (Bool) -> Void
    private var context: ChannelHandlerContext?

    init(_ setWritable: @escaping (Bool) -> Void) {
        self.setWritable = setWritable
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

    func read(context: ChannelHandlerContext) {
        readCount += 1
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isClosed, !isOutputClosing else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        let data = unwrapOutboundIn(data)
        unflushed.append((data, promise))
        waitingCount += data.readableBytes
        most = max(most, waitingCount)
        noteWritability()
    }

    func flush(context: ChannelHandlerContext) {
        flushCount += 1
        waiting += unflushed
        unflushed = []
        if isTaking { take() }
        onFlush?(context)
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            outputCloseCount += 1
            isOutputClosing = true
            outputClose = promise
            noteOutputEnd()
        case .input: promise?.succeed(())
        case .all:
            isClosed = true
            let entries = waiting + unflushed
            waiting = []
            unflushed = []
            for entry in entries { entry.promise?.fail(ChannelError.ioOnClosedChannel) }
            if !isOutputClosed { outputClose?.fail(ChannelError.ioOnClosedChannel) }
            context.close(promise: promise)
        }
    }

    /// Lets the client read some of the waiting bytes.
    func take(_ count: Int = .max) {
        var count = count
        while count > 0, !waiting.isEmpty {
            var entry = waiting.removeFirst()
            guard let part = entry.data.readSlice(length: min(count, entry.data.readableBytes)) else { return }
            taken.writeImmutableBuffer(part)
            count -= part.readableBytes
            waitingCount -= part.readableBytes
            if entry.data.readableBytes > 0 {
                waiting.insert(entry, at: 0)
            } else {
                entry.promise?.succeed(())
            }
        }
        noteOutputEnd()
        noteWritability()
    }

    private func noteOutputEnd() {
        guard isOutputClosing, waiting.isEmpty, !isOutputClosed else { return }
        isOutputClosed = true
        outputClose?.succeed(())
    }

    private func noteWritability() {
        let isNow = isWritable ? waitingCount <= 65_536 : waitingCount < 32_768
        guard isNow != isWritable else { return }
        isWritable = isNow
        setWritable(isNow)
        context?.fireChannelWritabilityChanged()
    }
}

/// A connection on an event loop that runs only when the test calls it. The test also sets the loop's time.
struct EmbeddedLine {
    let eventLoop: EmbeddedEventLoop
    let line: Line

    init(
        _ limits: HTTPLimits = HTTPLimits(),
        _ responder: any Responder = Echo(),
        isHandshaken: Bool = true
    ) throws {
        let eventLoop = EmbeddedEventLoop()
        let connections = EventLoopState(eventLoop, limits: limits, responder: responder) { 784_111_777 }
        connections.start()
        try self.init(eventLoop, connections, isHandshaken: isHandshaken)
    }

    /// Makes another connection on the same event loop.
    init(_ eventLoop: EmbeddedEventLoop, _ connections: EventLoopState, isHandshaken: Bool = true) throws {
        self.eventLoop = eventLoop
        let channel = EmbeddedChannel(loop: eventLoop)
        line = try Line(channel, connections, setWritable: { channel.isWritable = $0 }, isHandshaken: isHandshaken)
    }

    var wire: Wire { line.wire }
    var text: String { line.text }
    var isOpen: Bool { !wire.isClosed && !wire.isOutputClosed }

    func bring(_ text: String) {
        line.bring(text)
        eventLoop.run()
    }

    func bring(_ bytes: some Collection<UInt8>) {
        line.bring(ByteBuffer(bytes: bytes))
        eventLoop.run()
    }

    func advance(_ time: Duration) {
        eventLoop.advanceTime(by: .nanoseconds(Int64(time.nanoseconds)))
    }

    var answers: [Answer] {
        get throws { try Answer.all(in: line.wire.taken) }
    }

    var statuses: [Int] {
        get throws { try answers.map(\.status) }
    }

    /// Ends the connection and the timer of its event loop. Otherwise they would keep each other alive.
    func end() {
        line.drop()
        line.connections.stop()
        eventLoop.run()
    }
}

/// Answers every request at once with its method and target.
struct Echo: Responder {
    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        .immediate(
            PreparedResponse(HTTPResponse(status: .ok), body: ByteBuffer(string: "\(head.methodText) \(head.target)"))
        )
    }
}

extension Responder {
    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        PreparedResponse(
            HTTPResponse(status: HTTPResponse.Status(code: fault.status)),
            body: ByteBuffer(string: fault.reason)
        )
    }
}

/// Answers each request with the result of a closure.
struct Scripted: Responder {
    let reply: @Sendable (_ method: String, _ target: String) -> ResponseMode

    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        reply(head.methodText, head.target)
    }
}

extension PreparedResponse {
    /// Makes a response of status 200 with a text.
    static func text(_ text: String) -> PreparedResponse {
        PreparedResponse(HTTPResponse(status: .ok), body: ByteBuffer(string: text))
    }
}

/// A response that a client has parsed.
struct Answer: Equatable {
    struct NoResponse: Error {
        let rest: String
    }

    var status = 0
    var fields: [String: String] = [:]
    var body = ""

    /// Parses all responses in some bytes.
    ///
    /// - Parameters:
    ///   - bytes: The bytes that the client has read.
    ///   - methods: The methods of the requests, in order. Further requests are GET.
    ///   - isCut: True if the last response may be incomplete.
    /// - Returns: The complete responses.
    /// - Throws: ``NoResponse`` if the bytes are not responses.
    static func all(in bytes: ByteBuffer, methods: [String] = [], isCut: Bool = false) throws -> [Answer] {
        var rest = String(buffer: bytes).utf8[...]
        var answers: [Answer] = []
        var finals = 0
        while !rest.isEmpty {
            let method = finals < methods.count ? methods[finals] : "GET"
            guard let answer = one(&rest, method) else {
                if isCut { return answers }
                throw NoResponse(rest: String(decoding: rest.prefix(200), as: UTF8.self))
            }
            if answer.status >= 200 { finals += 1 }
            answers.append(answer)
        }
        return answers
    }

    private static func line(_ rest: inout Substring.UTF8View) -> String? {
        guard let end = rest.firstIndex(of: 10), end > rest.startIndex, rest[rest.index(before: end)] == 13 else {
            return nil
        }
        let line = String(decoding: rest[..<rest.index(before: end)], as: UTF8.self)
        rest = rest[rest.index(after: end)...]
        return line
    }

    private static func take(_ count: Int, _ rest: inout Substring.UTF8View) -> String? {
        guard count >= 0, let end = rest.index(rest.startIndex, offsetBy: count, limitedBy: rest.endIndex) else {
            return nil
        }
        defer { rest = rest[end...] }
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    private static func one(_ rest: inout Substring.UTF8View, _ method: String) -> Answer? {
        var answer = Answer()
        guard let start = line(&rest), start.hasPrefix("HTTP/1.1 "), let status = Int(start.dropFirst(9).prefix(3))
        else { return nil }
        answer.status = status
        while true {
            guard let field = line(&rest) else { return nil }
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: ":") else { return nil }
            let name = field[..<colon].lowercased()
            guard answer.fields[name] == nil else { return nil }
            answer.fields[name] = String(field[colon...].dropFirst(2))
        }
        if status < 200 || status == 204 || status == 304 || method == "HEAD" { return answer }
        if answer.fields["transfer-encoding"] == "chunked" {
            while true {
                guard let size = line(&rest).flatMap({ Int($0, radix: 16) }), let data = take(size, &rest),
                    line(&rest) == ""
                else { return nil }
                if size == 0 { return answer }
                answer.body += data
            }
        }
        guard let length = answer.fields["content-length"] else {
            answer.body = String(decoding: rest, as: UTF8.self)
            rest = rest[rest.endIndex...]
            return answer
        }
        guard let count = Int(length), let body = take(count, &rest) else { return nil }
        answer.body = body
        return answer
    }
}

extension Random {
    /// Splits bytes into pieces of random length, 1 to `size`.
    mutating func pieces(_ bytes: [UInt8], atMost size: Int = 40) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...size, using: &self))
            pieces.append(Array(bytes[start..<end]))
            start = end
        }
        return pieces
    }
}

extension HTTPLimits {
    /// Small limits, which tests exceed with little data.
    static var small: HTTPLimits {
        var limits = HTTPLimits()
        limits.requestLine = 64
        limits.fieldLine = 48
        limits.fieldCount = 8
        limits.header = 256
        limits.body = 64
        return limits
    }
}
