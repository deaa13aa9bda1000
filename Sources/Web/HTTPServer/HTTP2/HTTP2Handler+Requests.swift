// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP2

extension HTTP2Handler {
    func receiveRequest(_ payload: HTTP2Frame.FramePayload.Headers, id: HTTP2StreamID) {
        lastStream = max(lastStream, id)
        // NIOHTTP2 enforces the limit for streams only after the client has acknowledged the settings.
        guard state == .open, streams.count < loop.limits.streams else { return reset(id, code: .refusedStream) }
        deadlines.recordRequest()
        // A connection that always has open streams is idle since its last request.
        deadlines.restart(at: loop.now)
        frameGuard.resetIdleCount()
        do throws(HTTP2HeadReader.Fault) {
            let head = try HTTP2HeadReader.read(
                payload.headers,
                endsStream: payload.endStream,
                limits: loop.limits,
                into: &loop.fields
            )
            answer(head, id: id, endsStream: payload.endStream)
        } catch {
            switch error {
            case .malformed: reset(id, code: .protocolError)
            case .refused(let fault):
                let stream = HTTP2Stream(self, id: id, request: nil, endsStream: payload.endStream)
                streams[id] = stream
                stream.answer(loop.responder.respond(to: fault, on: connection))
            }
            countFault()
        }
    }

    private func answer(_ head: RequestHead, id: HTTP2StreamID, endsStream: Bool) {
        let stream = HTTP2Stream(self, id: id, request: head.summary, endsStream: endsStream)
        streams[id] = stream
        if case .length(let length) = head.summary.body, length > loop.limits.body {
            return refuse(stream, because: .bodyTooLong)
        }
        switch loop.responder.respond(to: head, on: connection) {
        case .immediate(let response): stream.answer(response)
        case .prepared(let beginsOnEventLoop, let prepare):
            stream.prepare(head, onEventLoop: beginsOnEventLoop, by: prepare)
        case .refused: reset(stream, code: .refusedStream)
        case .deferred(let produce):
            if case .length(let length) = head.summary.body, length > ResponseMode.maximumBody {
                return refuse(stream, because: .bodyTooLong)
            }
            if head.summary.expectsContinue, !endsStream { stream.writeContinue() }
            // If the write has closed the stream, no task is started, because nothing would cancel the task.
            guard isOpen(stream) else { return }
            stream.start(produce)
        }
    }

    func receiveData(_ payload: HTTP2Frame.FramePayload.Data, of stream: HTTP2Stream) {
        guard case .byteBuffer(let data) = payload.data else { return }
        if data.readableBytes > 0 { frameGuard.resetIdleCount() }
        if let fault = stream.receive(data, isLast: payload.endStream) { return refuse(stream, because: fault) }
        creditStream(stream, count: data.readableBytes + (payload.paddingBytes.map { $0 + 1 } ?? 0))
    }

    /// Ends the body at its trailers, whose fields are dropped.
    func receiveTrailers(_ payload: HTTP2Frame.FramePayload.Headers, of stream: HTTP2Stream) {
        guard payload.endStream, HTTP2HeadReader.areTrailers(payload.headers) else {
            reset(stream, code: .protocolError)
            return countFault()
        }
        if let fault = stream.receiveTrailers() { refuse(stream, because: fault) }
    }

    private func refuse(_ stream: HTTP2Stream, because fault: HTTP2Stream.BodyFault) {
        switch fault {
        case .mismatch:
            reset(stream, code: .protocolError)
            countFault()
        case .tooLong: refuse(stream, because: .bodyTooLong)
        }
    }

    /// Answers a request that is rejected, and ends its stream; the connection stays open.
    func refuse(_ stream: HTTP2Stream, because fault: RequestFault) {
        guard !stream.hasResponseBegun else { return reset(stream, code: .cancel) }
        stream.end()
        stream.answer(loop.responder.respond(to: fault, on: connection))
        countFault()
    }

    private func countFault() {
        faultCount += 1
        if faultCount > HTTP2Configuration.maximumFaults { fail(.enhanceYourCalm) }
    }

    // MARK: - Windows

    /// Enlarges the connection's window, if half of the window is used.
    func creditConnection() {
        guard isServing, deadlines.isWritable, window <= HTTP2Configuration.windowSize / 2 else { return }
        write(.windowUpdate(windowSizeIncrement: HTTP2Configuration.windowSize - window), to: .rootStream)
        flush()
    }

    /// Counts bytes that the client has sent on a stream, and enlarges the windows.
    func creditStream(_ stream: HTTP2Stream, count: Int) {
        stream.uncreditedCount += count
        creditWindows(stream)
    }

    /// Enlarges the windows of the connection and of a stream by the bytes that have arrived.
    func creditWindows(_ stream: HTTP2Stream) {
        guard isOpen(stream), deadlines.isWritable else { return }
        creditConnection()
        guard !stream.hasRequestEnded, stream.uncreditedCount > HTTP2Configuration.windowSize / 4 else { return }
        let credit = stream.uncreditedCount
        stream.uncreditedCount = 0
        write(.windowUpdate(windowSizeIncrement: credit), to: stream.id)
        flush()
    }
}
