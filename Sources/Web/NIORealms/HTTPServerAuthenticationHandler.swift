// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
public import NIOCore
public import NIOHTTP1
public import RealmKit
public import RealmVerifier

/// The head of a request, and the user who has sent it.
public struct AuthenticatedRequestHead: Sendable, Equatable {
    /// The head, without its `Authorization` field.
    public let head: HTTPRequestHead
    /// The user of this request; the next request of the connection may have another one.
    public let user: SignedInUser

    /// Creates the head of a request, for tests of handlers.
    public init(head: HTTPRequestHead, user: SignedInUser) { (self.head, self.user) = (head, user) }
}

/// A part of a request of an authenticated user.
public typealias AuthenticatedRequestPart = HTTPPart<AuthenticatedRequestHead, ByteBuffer>

/// Authenticates each request of an HTTP/1 connection by HTTP Basic, and passes it on with its user.
///
/// ```swift
/// try channel.pipeline.syncOperations.configureHTTPServerPipeline()
/// try channel.pipeline.syncOperations.addHandler(HTTPServerAuthenticationHandler(verifier))
/// try channel.pipeline.syncOperations.addHandler(YourHandler())
/// ```
///
/// The handlers after it read ``AuthenticatedRequestPart`` and write `HTTPServerResponsePart`. The user is part of the
/// head of a request, so that no handler can take it for the user of another request. A request without valid
/// credentials does not reach them: the response is 401, or 503 if a realm is unavailable. It is 403 if a page of
/// another site has sent the request with a method that is not safe.
///
/// One request at a time is processed: the next one begins when the response to the previous one is sent. Until then,
/// and while credentials are checked, the handler does not read. It holds the parts that have arrived already, at most
/// ``maximumHeldBytes``. It closes the connection after a response with `Connection: close`, and after the response to
/// a request that does not keep the connection alive or asks for an upgrade. Writes outside of a request fail.
///
/// Each connection needs a handler of its own. A handler that upgrades connections must not be before it, because
/// nobody would authenticate the requests to upgrade. Source: RFC 9110 sections 10.1.1 and 11, RFC 9112 section 9.3.
public final class HTTPServerAuthenticationHandler: ChannelDuplexHandler {
    /// A part of a request of a client.
    public typealias InboundIn = HTTPServerRequestPart
    /// A part of a request with valid credentials.
    public typealias InboundOut = AuthenticatedRequestPart
    /// A part of the response to such a request.
    public typealias OutboundIn = HTTPServerResponsePart
    /// A part of a response.
    public typealias OutboundOut = HTTPServerResponsePart

    /// The maximum size of what is held while credentials are checked; a connection that sends more is closed.
    ///
    /// Each part and each of its fields count as their bytes and 32 more.
    public static let maximumHeldBytes = 1 << 20
    /// The maximum size of the body of a refused request; a connection that sends more is closed.
    public static let maximumDiscardedBytes = 1 << 16
    static let partBytes = 32

    enum State {
        case idle
        /// The credentials of a request are being checked.
        case checking(HTTPRequestHead, Task<Void, Never>)
        case answering(Exchange)
        case closed
    }

    /// A request whose credentials are checked, and its response.
    struct Exchange {
        enum Response { case open, written, sent }

        let isAccepted: Bool
        var isKeptAlive: Bool
        var hasRequestEnded = false
        var response = Response.open
        var discardedBytes = 0

        init(_ head: HTTPRequestHead, isAccepted: Bool) {
            self.isAccepted = isAccepted
            // After a request to upgrade, NIO's parser only collects bytes, without a limit.
            let isLast = head.method == .CONNECT || head.headers.contains(name: "upgrade")
            isKeptAlive = head.isKeepAlive && !isLast
        }
    }

    private enum Event {
        case part(HTTPServerRequestPart)
        case inputClosed
    }

    let check: @Sendable (BasicCredentials, String?) async -> Verification
    let peer: @Sendable (SocketAddress?, HTTPRequestHead) -> String?
    let challenge: String
    var state = State.idle
    private var held = CircularBuffer<Event>()
    private var heldBytes = 0
    private var isReadPending = false
    private var isReleasing = false

    /// Creates the handler of a connection.
    ///
    /// - Parameters:
    ///   - verifier: The realms and their limits.
    ///   - realms: The names of the realms that may accept the user, in order; nil for those of the verifier.
    ///   - service: The service that users sign in to, for modules and the log.
    ///   - protectionSpace: The realm of RFC 9110 section 11.5 that the challenge names, without control characters.
    ///   - peer: Returns the client's address, from the address of the socket and the head of a request; nil if it has
    ///     none, as behind a Unix socket. Behind a proxy, it is in a field that only the proxy can set. An empty text
    ///     for a missing field makes the response 503.
    public convenience init(
        _ verifier: RealmVerifier,
        in realms: [String]? = nil,
        service: String = "http",
        protectionSpace: String = "restricted",
        peer: @escaping @Sendable (SocketAddress?, HTTPRequestHead) -> String? = { address, _ in
            // A connection that has ended has no address; only that of a Unix socket has no IP address.
            address.map(\.ipAddress) ?? ""
        }
    ) {
        self.init(protectionSpace: protectionSpace, peer: peer) { credentials, peer in
            await verifier.verify(credentials, in: realms, service: service, peer: peer)
        }
    }

    init(
        protectionSpace: String,
        peer: @escaping @Sendable (SocketAddress?, HTTPRequestHead) -> String?,
        check: @escaping @Sendable (BasicCredentials, String?) async -> Verification
    ) {
        (self.check, self.peer, challenge) = (check, peer, BasicScheme.challenge(realm: protectionSpace))
    }

    // MARK: Requests

    /// Processes or holds a part of a request.
    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = Self.unwrapInboundIn(data)
        if mayRead { return process(part, context) }
        if case .closed = state { return }
        held.append(.part(part))
        heldBytes += Self.bytes(of: part)
        if heldBytes > Self.maximumHeldBytes { close(context) }
    }

    /// Reads now, or when the connection may read again.
    public func read(context: ChannelHandlerContext) {
        if mayRead { context.read() } else { isReadPending = true }
    }

    /// Passes events on; the end of the input after the parts before it.
    public func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent, !mayRead { return held.append(.inputClosed) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Processes what is held, until the next check or response.
    func release(_ context: ChannelHandlerContext) {
        guard !isReleasing else { return }
        isReleasing = true
        while state.takesParts, let event = held.popFirst() {
            switch event {
            case .part(let part):
                heldBytes -= Self.bytes(of: part)
                process(part, context)
            case .inputClosed: context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
            }
        }
        isReleasing = false
        context.fireChannelReadComplete()
        if isReadPending, mayRead {
            isReadPending = false
            context.read()
        }
    }

    private var mayRead: Bool { state.takesParts && held.isEmpty && !isReleasing }

    private static func bytes(of part: HTTPServerRequestPart) -> Int {
        func bytes(_ fields: HTTPHeaders) -> Int {
            fields.reduce(partBytes) { $0 + $1.name.utf8.count + $1.value.utf8.count + partBytes }
        }
        return switch part {
        case .head(let head): bytes(head.headers) + head.uri.utf8.count
        case .body(let body): body.readableBytes + partBytes
        case .end(let trailers): trailers.map(bytes) ?? partBytes
        }
    }

    // MARK: The end of the connection

    /// Ends the check, and passes the event on.
    public func channelInactive(context: ChannelHandlerContext) {
        end()
        context.fireChannelInactive()
    }

    /// Ends the check.
    public func handlerRemoved(context: ChannelHandlerContext) { end() }

    /// Passes an error on, and closes the connection after a malformed request or response.
    public func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.fireErrorCaught(error)
        if error is HTTPParserError { close(context) }
    }

    func close(_ context: ChannelHandlerContext) {
        end()
        context.close(promise: nil)
    }

    private func end() {
        if case .checking(_, let task) = state { task.cancel() }
        state = .closed
        held.removeAll()
    }
}

@available(*, unavailable)
extension HTTPServerAuthenticationHandler: Sendable {}

extension HTTPServerAuthenticationHandler.State {
    /// True if the next part of a request can be processed.
    var takesParts: Bool {
        switch self {
        case .idle: true
        case .answering(let exchange): !exchange.hasRequestEnded
        case .checking, .closed: false
        }
    }
}
