// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import RealmKit
import RealmVerifier
import Synchronization
import Testing

@testable import NIORealms

/// A connection with the parsers of NIO, whose checks of credentials the test decides.
final class Connection: Sendable {
    /// A check that waits for the test.
    struct Check: Sendable {
        let name: String
        let peer: String?
        private let continuation: CheckedContinuation<Verification, Never>

        fileprivate init(_ name: String, _ peer: String?, _ continuation: CheckedContinuation<Verification, Never>) {
            (self.name, self.peer, self.continuation) = (name, peer, continuation)
        }

        func finish(_ result: Verification) { continuation.resume(returning: result) }

        func accept() throws { finish(.accepted(try user(name))) }
    }

    let channel = NIOAsyncTestingChannel()
    let application: Lines
    private let checks = Mutex<[Check]>([])
    private let sent = Mutex("")
    private let cancelledChecks = Atomic(0)
    /// The number of checks whose task was cancelled.
    var cancellations: Int { cancelledChecks.load(ordering: .relaxed) }
    private let readCount = Atomic(0)
    /// The number of reads from the socket that handlers have requested.
    var reads: Int { readCount.load(ordering: .relaxed) }

    init(
        hasPipelining: Bool = true,
        answers: Bool = true,
        peer: String? = nil,
        clientReads: Bool = true
    ) async throws {
        let application = Lines()
        self.application = application
        let channel = channel
        try await channel.testingEventLoop.executeInContext { [self] in
            let handler = HTTPServerAuthenticationHandler(
                protectionSpace: "team",
                peer: { address, _ in peer ?? address?.ipAddress },
                check: { [weak self] credentials, peer in await self?.check(credentials, peer) ?? .unavailable }
            )
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(
                Socket(sends: clientReads) { [weak self] in self?.readCount.add(1, ordering: .relaxed) }
            )
            try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: hasPipelining)
            try pipeline.addHandler(handler)
            try pipeline.addHandler(Application(application, answers: answers))
        }
        try await channel.connect(to: SocketAddress(ipAddress: "192.0.2.1", port: 5555)).get()
    }

    private func check(_ credentials: BasicCredentials, _ peer: String?) async -> Verification {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                checks.withLock { $0.append(Check(credentials.name, peer, continuation)) }
            }
        } onCancel: {
            cancelledChecks.add(1, ordering: .relaxed)
        }
    }

    /// The number of checks that wait.
    var waiting: Int { checks.withLock { $0.count } }

    /// Waits for the next check.
    func nextCheck() async throws -> Check {
        try await wait { self.waiting > 0 }
        return checks.withLock { $0.removeFirst() }
    }

    func receive(_ text: String) async throws { try await channel.writeInbound(ByteBuffer(string: text)) }

    /// What the client has got.
    func output() async throws -> String {
        while let data = try await channel.readOutbound(as: IOData.self) {
            guard case .byteBuffer(let buffer) = data else { continue }
            sent.withLock { $0 += String(buffer: buffer) }
        }
        return sent.withLock { $0 }
    }

    /// The statuses of the responses so far.
    func statuses() async throws -> [String] {
        try await output().split(separator: "HTTP/1.").map { String($0.dropFirst(2).prefix(3)) }
    }

    /// Waits until the client has got a number of responses, and returns the statuses.
    func statuses(_ count: Int) async throws -> [String] {
        try await wait { try await self.statuses().count >= count }
        return try await statuses()
    }

    func wait(_ condition: () async throws -> Bool) async throws {
        let begin = ContinuousClock.now
        while try await !condition() {
            // Only a defect takes so long.
            try #require(ContinuousClock.now - begin < .seconds(60))
            await channel.testingEventLoop.run()
            await Task.yield()
        }
    }

    /// Does something in the handler of the application.
    func inApplication(_ body: @escaping @Sendable (Application, ChannelHandlerContext) -> Void) async throws {
        let channel = channel
        try await channel.testingEventLoop.executeInContext {
            let context = try channel.pipeline.syncOperations.context(handlerType: Application.self)
            guard let application = context.handler as? Application else { return }
            body(application, context)
        }
    }
}

func user(_ name: String) throws -> SignedInUser {
    SignedInUser(realm: "team", username: try Username(name), groups: ["Staff"])
}

/// A request without a body, with the credentials of a user.
func get(_ path: String, _ name: String? = nil, _ fields: String = "", method: String = "GET") -> String {
    // The Base64 of "NAME:right".
    let tokens = ["ann": "YW5uOnJpZ2h0", "ben": "YmVuOnJpZ2h0"]
    let field = name.flatMap { tokens[$0] }.map { "Authorization: Basic \($0)\r\n" } ?? ""
    return "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\n\(field)\(fields)\r\n"
}

final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func append(_ line: String) { lines.withLock { $0.append(line) } }
}

/// The handler of a server: it notes what it reads, and answers at the end of each request.
final class Application: ChannelInboundHandler {
    typealias InboundIn = AuthenticatedRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let lines: Lines
    private let answers: Bool

    init(_ lines: Lines, answers: Bool) { (self.lines, self.answers) = (lines, answers) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let request):
            let fields = request.head.headers.contains(name: "authorization") ? " with a password" : ""
            lines.append("\(request.user.username) \(request.head.uri)\(fields)")
        case .body(let body): lines.append("\(body.readableBytes) bytes")
        case .end:
            lines.append("end")
            if answers { answer(context) }
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) { lines.append("event \(event)") }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { lines.append("error") }

    func answer(
        _ context: ChannelHandlerContext,
        _ headers: HTTPHeaders = ["Content-Length": "0"],
        promise: EventLoopPromise<Void>? = nil
    ) {
        let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: headers)
        context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
        context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: promise)
    }
}

/// Counts reads, and fails writes to a closed connection, as a socket does.
private final class Socket: ChannelOutboundHandler {
    typealias OutboundIn = NIOAny
    private let count: () -> Void
    private let sends: Bool
    private var unsent: [EventLoopPromise<Void>] = []

    init(sends: Bool, _ count: @escaping () -> Void) { (self.sends, self.count) = (sends, count) }

    func read(context: ChannelHandlerContext) {
        count()
        context.read()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard context.channel.isActive else {
            promise?.fail(ChannelError.ioOnClosedChannel)
            return
        }
        if sends { return context.write(data, promise: promise) }
        context.write(data, promise: nil)
        if let promise { unsent.append(promise) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        for promise in unsent { promise.fail(ChannelError.ioOnClosedChannel) }
    }
}
