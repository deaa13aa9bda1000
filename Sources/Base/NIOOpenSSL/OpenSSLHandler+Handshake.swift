// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
public import OpenSSLKit

/// The user event that a TLS handler fires when its handshake is complete, before any plaintext.
public struct TLSHandshakeCompleted: Sendable, Hashable {
    /// The application protocol (RFC 7301); nil if none was negotiated.
    public let negotiatedProtocol: String?
    /// The version of TLS.
    public let version: TLSVersion
    /// The cipher suite by its name in the IANA registry.
    public let cipher: String
    /// True if a session was resumed.
    public let isResumed: Bool
    /// The server name that the client sent, see ``TLSConnectionInfo/serverName``; nil on a client.
    public let serverName: String?

    /// Makes an event.
    public init(
        negotiatedProtocol: String?,
        version: TLSVersion,
        cipher: String,
        isResumed: Bool = false,
        serverName: String? = nil
    ) {
        self.negotiatedProtocol = negotiatedProtocol
        self.version = version
        self.cipher = cipher
        self.isResumed = isResumed
        self.serverName = serverName
    }
}

extension OpenSSLHandler {
    /// Starts the handshake and its deadline.
    func start(_ context: ChannelHandlerContext) {
        guard case .idle = state else { return }
        state = .handshaking
        if let time = configuration.handshakeTimeout {
            schedule(context, in: time) { handler, context in
                guard case .handshaking = handler.state else { return }
                handler.fail(context, with: NIOOpenSSLError(.handshakeTimeout))
            }
        }
        continueHandshake(context)
        sendCiphertext(context)
        flushIfNeeded(context)
        // The handshake needs the peer's bytes, even if the application has not called read().
        if case .handshaking = state { context.read() }
    }

    func continueHandshake(_ context: ChannelHandlerContext) {
        guard case .handshaking = state, plainHTTPError == nil, let connection else { return }
        do throws(OpenSSLError) {
            let (step, taken) = try connection.handshake(input.readableBytesSpan)
            dropInput(taken)
            switch step {
            case .needsInput: return
            case .complete: try completeHandshake(context, info: connection.info)
            }
        } catch {
            let isHTTP = error.code == .plainHTTP || PlainHTTP.matches(firstBytes)
            let failure = NIOOpenSSLError(isHTTP ? .plainHTTP : .handshakeFailed, cause: error)
            if isHTTP, configuration.plainHTTPResponse != nil {
                plainHTTPError = failure
                guard PlainHTTP.isComplete(input.readableBytesUInt8Span) else {
                    return awaitPlainHTTP(context, failure)
                }
                return fail(context, with: failure)
            }
            // An alert is not answered with an alert.
            fail(context, with: failure, needsAlert: error.code != .alertReceived)
        }
    }

    /// The maximum time for which the rest of a plain HTTP request is awaited.
    static let plainHTTPTime = TimeAmount.milliseconds(100)

    /// Waits for the rest of a plain HTTP request, for at most ``plainHTTPTime``, before the request is answered.
    ///
    /// If the connection were closed while the system has unread data of the client, the system would send a reset, and
    /// the client could lose the answer (RFC 9112 section 9.6). One more read takes the rest of a usual request.
    private func awaitPlainHTTP(_ context: ChannelHandlerContext, _ error: NIOOpenSSLError) {
        input = ByteBuffer()
        // An alert of OpenSSL would be unreadable for the client.
        _ = takeOutput()
        schedule(context, in: Self.plainHTTPTime) { handler, context in handler.fail(context, with: error) }
    }

    private func completeHandshake(_ context: ChannelHandlerContext, info: TLSConnectionInfo) throws(OpenSSLError) {
        guard let version = info.version, let cipher = info.cipherSuite else {
            throw OpenSSLError(.unsupportedVersion, context: "TLS handshake")
        }
        cancelDeadline()
        firstBytes = []
        undecryptedCount = input.readableBytes
        state = .open
        // The buffers are not kept for the first request, because it usually arrives some time after the handshake.
        connection?.releaseBuffers()
        context.fireUserInboundEventTriggered(
            TLSHandshakeCompleted(
                negotiatedProtocol: info.applicationProtocol,
                version: version,
                cipher: cipher,
                isResumed: info.isResumed,
                serverName: info.serverName
            )
        )
        if pendingWrites.hasFlushedData { encrypt(context) }
        finishOutputClose(context)
    }

    /// Drops the first `count` bytes of the ciphertext, and the storage if no ciphertext is left.
    func dropInput(_ count: Int) {
        if count == input.readableBytes { input = ByteBuffer() } else { input.moveReaderIndex(forwardBy: count) }
    }

    /// Sets the deadline: runs `body` after a time, unless the deadline is cancelled or replaced.
    func schedule(
        _ context: ChannelHandlerContext,
        in time: TimeAmount,
        run body: @escaping (OpenSSLHandler, ChannelHandlerContext) -> Void
    ) {
        cancelDeadline()
        // The closure may retain the handler and the context, because the deadline is cancelled when the handler leaves
        // the pipeline.
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { body(self, context) }
    }

    func cancelDeadline() { deadline.take()?.cancel() }
}

/// Detects a plain HTTP request on a connection that should use TLS.
enum PlainHTTP {
    /// The maximum number of bytes that are compared.
    static let prefixSize = 8

    // The methods of RFC 9110 section 9.3 and RFC 5789, and the first word of the HTTP/2 preface (RFC 9113 3.4).
    private static let requestPrefixes = [
        "GET ", "HEAD ", "POST ", "PUT ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ", "PATCH ", "PRI ",
    ]

    /// Returns whether the first bytes of a connection, at least three, are the start of an HTTP request.
    static func matches(_ bytes: [UInt8]) -> Bool {
        bytes.count >= 3 && requestPrefixes.contains { prefix in zip(prefix.utf8, bytes).allSatisfy { $0 == $1 } }
    }

    /// Returns whether bytes end with the end of a header, as requests without a body do.
    static func isComplete(_ bytes: Span<UInt8>) -> Bool {
        let end = bytes.count
        guard end >= 4 else { return false }
        return bytes[end - 4] == UInt8(ascii: "\r") && bytes[end - 3] == UInt8(ascii: "\n")
            && bytes[end - 2] == UInt8(ascii: "\r") && bytes[end - 1] == UInt8(ascii: "\n")
    }
}
