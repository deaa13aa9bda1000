// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// One request and its response: what the caller's task and the connection share.
///
/// The connection adds events, and the caller's task takes them. The first error ends the exchange, wherever it comes
/// from: the connection, the time limit, or the caller.
final class HTTPSExchange: Sendable {
    enum Event: Sendable {
        case response(HTTPSResponse)
        case part([UInt8])
        case end
        case failed(HTTPSClientError)
    }

    private struct State {
        var events: [Event] = []
        /// The number of bytes of the parts in `events`.
        var count = 0
        var waiter: CheckedContinuation<Void, Never>?
        /// The connection that is being opened or used.
        var channel: (any Channel)?
        var timer: Scheduled<Void>?
        var connectTimer: Scheduled<Void>?
        var isSent = false
        var isPaused = false
        /// True after the end of the response or an error.
        var isOver = false
        var hasFailed = false
    }

    /// The number of undelivered bytes at which no more bytes are read from the connection.
    static let highWaterMark = 64 << 10

    let request: HTTPSRequest
    private let timeout: Duration
    private let deadline: NIODeadline
    private let state = Mutex(State())

    init(_ request: HTTPSRequest, timeout: Duration) {
        self.request = request
        self.timeout = timeout
        deadline = .now() + TimeAmount(timeout)
    }

    var hasFailed: Bool { state.withLock { $0.hasFailed } }

    // MARK: The caller's task

    /// Waits for events, and removes and returns them; only one task may wait.
    func nextEvents() async -> [Event] {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard state.events.isEmpty else { return true }
                state.waiter = continuation
                return false
            }
            if isReady { continuation.resume() }
        }
        let (events, channel) = state.withLock { state -> ([Event], (any Channel)?) in
            defer {
                state.events = []
                state.count = 0
                state.isPaused = false
            }
            return (state.events, state.isPaused ? state.channel : nil)
        }
        channel?.setOption(.autoRead, value: true).whenFailure { _ in }
        // The option alone reads from the socket. The rest of the response may already be in the TLS handler, which delivers
        // it only after a read that passes through the pipeline.
        channel?.read()
        return events
    }

    // MARK: The connection

    /// Sets the connection that is opened for this exchange; returns false if the exchange is over.
    func attach(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.channel = channel
            return true
        }
    }

    /// Starts the timer of the exchange's time limit, unless it is already started.
    ///
    /// The time limit begins when the exchange is created. The timer is best started on the event loop of the connection,
    /// because another event loop would have to be woken up.
    func startTimer(on loop: any EventLoop) {
        guard state.withLock({ $0.timer == nil && !$0.isOver }) else { return }
        let timer = loop.scheduleTask(deadline: deadline) {
            self.fail(.timedOut, "the response was not complete after \(self.timeout)")
        }
        keep(timer) { $0.timer = timer }
    }

    func startConnectTimer(_ limit: Duration, on loop: any EventLoop) {
        let timer = loop.scheduleTask(in: TimeAmount(limit)) {
            self.fail(.connectTimedOut, "no connection was open after \(limit)")
        }
        keep(timer) { $0.connectTimer = timer }
    }

    private func keep(_ timer: Scheduled<Void>, _ set: (inout State) -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { set(&state) }
            return state.isOver
        }
        if isOver { timer.cancel() }
    }

    func connected() {
        state.withLock { state -> Scheduled<Void>? in
            defer { state.connectTimer = nil }
            return state.connectTimer
        }?.cancel()
    }

    /// Records, before the first byte, that the request is written now; returns false if the exchange is over.
    func willSend() -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.isSent = true
            return true
        }
    }

    /// Adds a response or a part of its body without waking the caller's task; returns true if no more bytes should be
    /// read.
    func add(_ event: Event) -> Bool {
        state.withLock { state in
            guard !state.isOver else { return false }
            state.events.append(event)
            if case .part(let part) = event { state.count += part.count }
            if state.count >= Self.highWaterMark { state.isPaused = true }
            return state.isPaused
        }
    }

    /// Records that the response is complete, so that the exchange cannot fail any more.
    ///
    /// The caller's task receives the end by ``deliverEnd()``, not earlier: it may be running, and take events, at any
    /// moment.
    func complete() {
        state.withLock { state -> Scheduled<Void>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            defer { (state.timer, state.channel) = (nil, nil) }
            return state.timer
        }?.cancel()
    }

    /// Adds the end of a complete response for the caller's task; does nothing if the exchange has failed.
    func deliverEnd() {
        state.withLock { state in if !state.hasFailed { state.events.append(.end) } }
        wake()
    }

    /// Wakes the caller's task if there are events.
    func wake() {
        state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.events.isEmpty else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }?.resume()
    }

    /// Ends the exchange with an error and closes its connection; does nothing if the exchange is over.
    func fail(_ code: HTTPSClientError.Code, _ cause: @autoclosure () -> String) {
        let (waiter, channel, timers) = state.withLock { state in
            guard !state.isOver else { return (nil, nil, []) as Ended }
            state.isOver = true
            state.hasFailed = true
            state.count = 0
            state.events = [.failed(HTTPSClientError(code, cause(), mayHaveReachedServer: state.isSent))]
            defer { (state.waiter, state.channel, state.timer, state.connectTimer) = (nil, nil, nil, nil) }
            return (state.waiter, state.channel, [state.timer, state.connectTimer].compactMap(\.self))
        }
        channel?.close(promise: nil)
        for timer in timers { timer.cancel() }
        waiter?.resume()
    }

    private typealias Ended = (CheckedContinuation<Void, Never>?, (any Channel)?, [Scheduled<Void>])
}
