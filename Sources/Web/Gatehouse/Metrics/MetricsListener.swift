// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RealmKit
internal import Synchronization

/// Serves metrics and the state of the server over plain HTTP, on addresses of its own.
///
/// | path | response |
/// |---|---|
/// | `/metrics` | 200: the metrics as text for Prometheus |
/// | `/health/live` | 200: the process answers |
/// | `/health/ready` | 200 while the server listens; 503 before and after |
///
/// A connection has one answer. Nothing here needs a login, so the addresses should be reachable only by the
/// monitoring.
struct MetricsListener {
    /// The maximum number of connections, so that a client cannot take the descriptors of the server.
    ///
    /// At the maximum, the oldest is closed for a new one: it has had its time, as an answer takes milliseconds.
    static let maximumConnections = 16
    /// The time after which a connection is closed, whatever its client does.
    static let timeLimit = TimeAmount.seconds(10)

    let metrics: ServerMetrics
    let group: any EventLoopGroup
    private let connections = OpenConnections()

    init(metrics: ServerMetrics, group: any EventLoopGroup) {
        self.metrics = metrics
        self.group = group
    }

    func listen(host: String, port: Int) async throws -> any Channel {
        let (metrics, connections) = (metrics, connections)
        return try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    connections.add(channel)
                    channel.closeFuture.whenComplete { _ in connections.remove(channel) }
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false, withErrorHandling: true)
                    try pipeline.addHandler(MetricsHandler(metrics: metrics))
                    let end = channel.eventLoop.scheduleTask(in: Self.timeLimit) { channel.close(promise: nil) }
                    channel.closeFuture.whenComplete { _ in end.cancel() }
                }
            }
            .bind(host: host, port: port).get()
    }

    private final class OpenConnections: Sendable {
        /// The connections, the oldest first.
        private let channels = Mutex<[any Channel]>([])

        func add(_ channel: any Channel) {
            let oldest: (any Channel)? = channels.withLock { channels in
                channels.append(channel)
                return channels.count > MetricsListener.maximumConnections ? channels.removeFirst() : nil
            }
            oldest?.close(promise: nil)
        }

        func remove(_ channel: any Channel) { channels.withLock { $0.removeAll { $0 === channel } } }
    }
}

/// Answers the first request of a connection, and closes the connection.
private final class MetricsHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private static let metricsPath = UTF8Text("/metrics")
    private static let livePath = UTF8Text("/health/live")
    private static let readyPath = UTF8Text("/health/ready")

    private let metrics: ServerMetrics
    private var isAnswered = false

    init(metrics: ServerMetrics) { self.metrics = metrics }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        // Further requests and the body are not used. A client that does not read gets no second answer.
        guard case .head(let head) = unwrapInboundIn(data), !isAnswered else { return }
        isAnswered = true
        respond(to: head, context)
    }

    func read(context: ChannelHandlerContext) {
        if !isAnswered { context.read() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func respond(to request: HTTPRequestHead, _ context: ChannelHandlerContext) {
        let (status, type, text) = answer(request, at: context.localAddress)
        var head = HTTPResponseHead(version: request.version, status: status)
        head.headers.add(name: "Content-Type", value: type)
        head.headers.add(name: "Content-Length", value: String(text.utf8.count))
        head.headers.add(name: "Cache-Control", value: "no-store")
        head.headers.add(name: "X-Content-Type-Options", value: "nosniff")
        if status == .methodNotAllowed { head.headers.add(name: "Allow", value: "GET, HEAD") }
        head.headers.add(name: "Connection", value: "close")
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if request.method != .HEAD {
            let body = context.channel.allocator.buffer(string: text)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
        }
        let channel = context.channel
        context.writeAndFlush(wrapOutboundOut(.end(nil))).whenComplete { _ in
            channel.close(promise: nil)
        }
    }

    /// Returns whether a page in a browser of this machine may have sent the request, after a change of its DNS entry.
    ///
    /// Such a request names the host of the page, and arrives at a loopback address. One without a host is allowed.
    private static func isRebound(_ hosts: [String], at address: SocketAddress?) -> Bool {
        guard let ip = address?.ipAddress, let local = NetworkAddress(ip[...]), local.isLoopback, !hosts.isEmpty else {
            return false
        }
        guard hosts.count == 1, let host = RequestHost(hosts[0]) else { return true }
        let isAddress = host.name.hasPrefix("[") || NetworkAddress(host.name[...]) != nil
        return host.name != "localhost" && !isAddress
    }

    /// Returns the authority of a target in absolute form, which every server must accept (RFC 9112 section 3.2.2), and
    /// the target without it.
    private static func parts(of target: String) -> (authority: String?, target: String) {
        let bytes = Array(target.utf8)
        let scheme = Array("http://".utf8)
        guard bytes.count > scheme.count, zip(bytes, scheme).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else {
            return (nil, target)
        }
        let rest = bytes.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return (
            String(decoding: authority, as: UTF8.self), String(decoding: rest.dropFirst(authority.count), as: UTF8.self)
        )
    }

    private func answer(
        _ request: HTTPRequestHead,
        at address: SocketAddress?
    ) -> (status: HTTPResponseStatus, type: String, text: String) {
        let plain = "text/plain; charset=utf-8"
        let (authority, target) = Self.parts(of: request.uri)
        // The authority of the target is used instead of the field, so each of them is checked (RFC 9112 section 3.2.2).
        // Only RequestHost reads the texts, byte by byte.
        let headers = request.headers
        guard !Self.isRebound(headers["host"], at: address),
            !Self.isRebound(authority.map { [$0] } ?? [], at: address)
        else {
            return (.misdirectedRequest, plain, "The host must be an IP address or localhost.\n")
        }
        guard request.method == .GET || request.method == .HEAD else {
            return (.methodNotAllowed, plain, "GET and HEAD are allowed.\n")
        }
        let path = UTF8Text(String(decoding: target.utf8.prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self))
        switch path {
        case Self.metricsPath: return (.ok, PrometheusRegistry.mediaType, metrics.text)
        case Self.livePath: return (.ok, plain, "live\n")
        case Self.readyPath:
            switch metrics.phase {
            case .serving: return (.ok, plain, "ready\n")
            case .starting: return (.serviceUnavailable, plain, "starting\n")
            case .stopping: return (.serviceUnavailable, plain, "stopping\n")
            }
        default: return (.notFound, plain, "The paths are /metrics, /health/live and /health/ready.\n")
        }
    }
}
