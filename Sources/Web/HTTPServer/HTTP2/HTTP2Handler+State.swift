// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP2

extension HTTP2Handler {
    /// True if streams may still be answered.
    var isServing: Bool {
        switch state {
        case .open, .draining: true
        case .sendingLast, .lingering, .closed: false
        }
    }

    /// Ends the connection because the network or TLS has failed.
    func connectionFailed(_ error: any Error) {
        onError(error, connection)
        abort()
    }

    /// Ends the connection because the client has violated the protocol or a limit.
    func fail(_ code: HTTP2ErrorCode) {
        guard isServing else { return }
        goAway(code)
        linger()
    }

    func stopAcceptingRequests() {
        guard isServing else { return }
        state = .draining
        if streams.isEmpty { linger() }
    }

    func goAway(_ code: HTTP2ErrorCode) {
        write(.goAway(lastStreamID: lastStream, errorCode: code, opaqueData: nil), to: .rootStream)
    }

    /// Closes the outgoing direction after all frames are sent, and waits for the client to close its direction.
    ///
    /// `HTTP1Handler.linger(_:)` explains why the connection is not closed at once.
    func linger() {
        guard isServing, let context else { return }
        state = .sendingLast
        deadlines.restart(at: loop.now)
        frameGuard.discardsInput = true
        endStreams()
        context.flush()
        let sent = context.eventLoop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenSuccess { self.lastFrameSent() }
        context.close(mode: .output, promise: sent)
        if isReadPending { context.channel.read() }
    }

    private func lastFrameSent() {
        guard state == .sendingLast else { return }
        state = .lingering
        deadlines.restart(at: loop.now)
        if hasPeerEnded { abort() }
    }

    /// Records that the client sends no more data; complete requests are still answered.
    func peerEnded() {
        hasPeerEnded = true
        switch state {
        case .open, .draining:
            for stream in Array(streams.values) where !stream.hasRequestEnded { reset(stream, code: .cancel) }
            flush()
            stopAcceptingRequests()
        case .lingering: abort()
        case .sendingLast, .closed: break
        }
    }

    /// Removes a stream that NIOHTTP2 has closed.
    func streamClosed(_ id: HTTP2StreamID) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        if stream.hasResponseEnded { unsentCount -= 1 }
        stream.end()
        creditConnection()
        guard streams.isEmpty else { return }
        deadlines.restart(at: loop.now)
        if state == .draining { linger() }
    }

    /// True if the connection waits for its client, and no task is running.
    var isIdle: Bool { streams.values.allSatisfy(\.isWaitingForClient) }

    /// Ends the connection if it is idle, because a new connection needs its place.
    func evict() {
        guard isIdle else { return }
        if isServing { goAway(.noError) }
        abort()
    }

    private func endStreams() {
        let ended = streams
        streams = [:]
        unsentCount = 0
        for stream in ended.values { stream.end() }
    }

    /// Ends all streams and leaves the list of connections; later calls have no effect.
    func end() {
        if state == .closed { return }
        state = .closed
        endStreams()
        countUnsent()
        if isInLoop { loop.remove(self) }
        onEnd()
    }
}
