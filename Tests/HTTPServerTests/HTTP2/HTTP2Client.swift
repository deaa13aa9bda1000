// SPDX-License-Identifier: Apache-2.0

import HTTPLimits
import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHPACK
import NIOOpenSSL
import OpenSSLKit

@testable import HTTPServer

/// A frame (RFC 9113 section 4.1).
struct Frame: Hashable, CustomStringConvertible {
    enum Kind: UInt8 {
        case data, headers, priority, reset, settings, push, ping, goAway, windowUpdate, continuation
    }

    var kind: UInt8
    var flags: UInt8 = 0
    var stream: UInt32 = 0
    var payload = ByteBuffer()

    init(_ kind: Kind, flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: ByteBuffer = ByteBuffer()) {
        self.init(kind.rawValue, flags: flags, stream, payload)
    }

    init(_ kind: UInt8, flags: UInt8 = 0, _ stream: UInt32 = 0, _ payload: ByteBuffer = ByteBuffer()) {
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = payload
    }

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(UInt8(payload.readableBytes >> 16))
        bytes.writeInteger(UInt16(payload.readableBytes & 0xFFFF))
        bytes.writeInteger(kind)
        bytes.writeInteger(flags)
        bytes.writeInteger(stream)
        bytes.writeImmutableBuffer(payload)
        return bytes
    }

    static func read(_ bytes: inout ByteBuffer) -> Frame? {
        guard
            let length = bytes.getInteger(at: bytes.readerIndex, as: UInt32.self).map({ Int($0 >> 8) }),
            bytes.readableBytes >= 9 + length, let header = bytes.readSlice(length: 9),
            let kind = header.getInteger(at: header.readerIndex + 3, as: UInt8.self),
            let flags = header.getInteger(at: header.readerIndex + 4, as: UInt8.self),
            let stream = header.getInteger(at: header.readerIndex + 5, as: UInt32.self),
            let payload = bytes.readSlice(length: length)
        else { return nil }
        return Frame(kind, flags: flags, stream, payload)
    }

    /// The error code of a RST_STREAM or GOAWAY frame; nil for other frames.
    var code: UInt32? {
        switch Kind(rawValue: kind) {
        case .reset: payload.getInteger(at: payload.readerIndex)
        case .goAway: payload.getInteger(at: payload.readerIndex + 4)
        default: nil
        }
    }

    var description: String { "\(Kind(rawValue: kind).map { "\($0)" } ?? "\(kind)") \(flags) on \(stream)" }
}

/// The network between a connection and its client.
///
/// It keeps the bytes that the server has sent.
final class RecordingNetwork: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    var output = ByteBuffer()
    private(set) var flushCount = 0
    private(set) var readCount = 0
    private(set) var isOutputClosed = false
    private(set) var isClosed = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        output.writeImmutableBuffer(unwrapOutboundIn(data))
        promise?.succeed(())
    }

    func flush(context: ChannelHandlerContext) { flushCount += 1 }

    func read(context: ChannelHandlerContext) {
        readCount += 1
        context.read()
    }

    func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
        switch mode {
        case .output:
            isOutputClosed = true
            promise?.succeed(())
        case .input: promise?.succeed(())
        case .all:
            isClosed = true
            context.close(promise: promise)
        }
    }
}

/// A client that can send any bytes, and the server's connection to it, on one event loop.
final class HTTP2Client {
    static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

    let channel: any Channel
    let loopState: EventLoopState
    let network = RecordingNetwork()
    private(set) var endCount = 0
    private(set) var frames: [Frame] = []
    private var encoder = HPACKEncoder(allocator: ByteBufferAllocator())
    private var decoder = HPACKDecoder(allocator: ByteBufferAllocator())
    private var nextStream: UInt32 = 1
    private(set) var fields: [UInt32: [HPACKHeaders]] = [:]
    private(set) var bodies: [UInt32: ByteBuffer] = [:]
    private let run: () -> Void

    init(
        _ channel: any Channel,
        _ loopState: EventLoopState,
        sendsPreface: Bool = true,
        place: ConnectionPlace? = nil,
        run: @escaping () -> Void
    )
        throws
    {
        self.channel = channel
        self.loopState = loopState
        self.run = run
        let handler = HTTP1Handler(loopState, place: place, onError: { _, _ in }) { [unowned(safe) self] in
            endCount += 1
        }
        try channel.pipeline.syncOperations.addHandlers([network, handler])
        channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
        channel.read()
        channel.pipeline.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(negotiatedProtocol: "h2", version: .tls13, cipher: "TLS_AES_128_GCM_SHA256")
        )
        if sendsPreface { send([Frame(.settings)], preface: true) }
    }

    // MARK: - Sending

    func sendBytes(_ bytes: ByteBuffer) {
        if !network.isClosed {
            channel.pipeline.fireChannelRead(bytes)
            channel.pipeline.fireChannelReadComplete()
            channel.read()
        }
        run()
        collect()
    }

    func send(_ frames: [Frame], preface: Bool = false) {
        var bytes = ByteBuffer(string: preface ? Self.preface : "")
        for frame in frames { bytes.writeImmutableBuffer(frame.bytes) }
        sendBytes(bytes)
    }

    func send(_ frame: Frame) { send([frame]) }

    func block(_ fields: [(String, String)]) throws -> ByteBuffer {
        var block = ByteBuffer()
        try encoder.encode(headers: HPACKHeaders(fields), to: &block)
        return block
    }

    /// Encodes fields without the Huffman code (RFC 7541 section 6.2.2).
    ///
    /// In the Huffman code some characters are four times as long as letters.
    static func plainBlock(_ fields: [(String, String)]) -> ByteBuffer {
        var block = ByteBuffer()
        for (name, value) in fields {
            block.writeInteger(UInt8(0))
            for text in [name, value] {
                var count = text.utf8.count
                block.writeInteger(UInt8(min(count, 127)))
                if count >= 127 {
                    count -= 127
                    while count >= 128 {
                        block.writeInteger(UInt8(count & 127 | 128))
                        count >>= 7
                    }
                    block.writeInteger(UInt8(count))
                }
                block.writeString(text)
            }
        }
        return block
    }

    static func get(_ path: String = "/", _ more: [(String, String)] = []) -> [(String, String)] {
        [(":method", "GET"), (":scheme", "https"), (":path", path), (":authority", "localhost")] + more
    }

    static func post(_ path: String = "/", _ more: [(String, String)] = []) -> [(String, String)] {
        [(":method", "POST"), (":scheme", "https"), (":path", path), (":authority", "localhost")] + more
    }

    func headers(_ fields: [(String, String)], ends: Bool = true) throws -> Frame {
        defer { nextStream += 2 }
        return Frame(.headers, flags: ends ? 5 : 4, nextStream, try block(fields))
    }

    /// Sends a request and returns its stream.
    @discardableResult
    func request(_ fields: [(String, String)] = HTTP2Client.get(), ends: Bool = true) throws -> UInt32 {
        let frame = try headers(fields, ends: ends)
        send(frame)
        return frame.stream
    }

    func data(_ stream: UInt32, _ count: Int, ends: Bool) {
        send(Frame(.data, flags: ends ? 1 : 0, stream, ByteBuffer(repeating: 0x61, count: count)))
    }

    // MARK: - Receiving

    func collect() {
        while let frame = Frame.read(&network.output) {
            frames.append(frame)
            switch Frame.Kind(rawValue: frame.kind) {
            case .headers:
                var block = frame.payload
                if let list = try? decoder.decodeHeaders(from: &block) {
                    fields[frame.stream, default: []].append(list)
                }
            case .data: bodies[frame.stream, default: ByteBuffer()].writeImmutableBuffer(frame.payload)
            default: break
            }
        }
    }

    func status(_ stream: UInt32) -> String? { fields[stream]?.last?.first(name: ":status") }

    func body(_ stream: UInt32) -> String { String(buffer: bodies[stream] ?? ByteBuffer()) }

    func hasEnded(_ stream: UInt32) -> Bool {
        frames.contains { $0.stream == stream && $0.kind < 2 && $0.flags & 1 == 1 }
    }

    func reset(_ stream: UInt32) -> UInt32? { frames.first { $0.stream == stream && $0.kind == 3 }?.code }

    var goAway: UInt32? { frames.last { $0.kind == 7 }?.code }

    /// True if the server has closed the connection or its outgoing direction.
    var isOver: Bool { network.isOutputClosed || network.isClosed }
}

/// Answers each request with the result of a closure.
struct PageResponder: Responder {
    let reply: @Sendable (_ method: String, _ target: String) -> ResponseMode

    func respond(to head: borrowing RequestHead, on connection: Connection) -> ResponseMode {
        reply(head.methodText, head.target)
    }

    func respond(to fault: RequestFault, on connection: Connection) -> PreparedResponse {
        Self.page(fault.reason, HTTPResponse.Status(code: fault.status))
    }

    static func page(_ text: String, _ status: HTTPResponse.Status = .ok) -> PreparedResponse {
        PreparedResponse(
            HTTPResponse(status: status, headerFields: [.contentType: "text/plain", .connection: "close"]),
            body: ByteBuffer(string: text)
        )
    }
}

extension EmbeddedChannel {
    /// Makes a connection.
    ///
    /// All requests are answered at once with `text`.
    static func client(
        _ limits: HTTPLimits = HTTPLimits(),
        _ text: String = "hello",
        sendsPreface: Bool = true,
        place: ConnectionPlace? = nil,
        reply: (@Sendable (_ method: String, _ target: String) -> ResponseMode)? = nil
    ) throws -> (client: HTTP2Client, loop: EmbeddedEventLoop) {
        let loop = EmbeddedEventLoop()
        let channel = EmbeddedChannel(loop: loop)
        let loopState = EventLoopState(
            loop,
            limits: limits,
            responder: PageResponder { method, target in
                reply?(method, target) ?? .immediate(PageResponder.page(text))
            }
        ) { 0 }
        loopState.start()
        return (try HTTP2Client(channel, loopState, sendsPreface: sendsPreface, place: place) { loop.run() }, loop)
    }
}
