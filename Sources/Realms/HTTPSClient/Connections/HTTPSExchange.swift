// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import Synchronization

/// One request and its response: what the caller's task and the connection share.
///
/// The first result ends the exchange, wherever it comes from: the connection, the time limit, or the caller.
final class HTTPSExchange: Sendable {
    typealias Answer = Result<HTTPSResponse, HTTPSClientError>

    private struct State {
        var answer: Answer?
        var waiter: CheckedContinuation<Answer, Never>?
        /// The connection that is being opened or used.
        var channel: (any Channel)?
        var timer: Scheduled<Void>?
        var connectTimer: Scheduled<Void>?
        var isSent = false
        /// True after the end of the response or an error.
        var isOver = false
        var hasFailed = false
    }

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

    /// Waits for the response or the error; only one task may wait.
    func answer() async -> Answer {
        await withCheckedContinuation { continuation in
            let answer = state.withLock { state in
                if state.answer == nil { state.waiter = continuation }
                return state.answer
            }
            if let answer { continuation.resume(returning: answer) }
        }
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

    /// Records that the response is complete, so that the exchange cannot fail any more.
    ///
    /// The caller's task receives it by ``deliver(_:)``, not earlier.
    func complete() {
        state.withLock { state -> Scheduled<Void>? in
            guard !state.isOver else { return nil }
            state.isOver = true
            defer { (state.timer, state.channel) = (nil, nil) }
            return state.timer
        }?.cancel()
    }

    /// Passes a complete response to the caller's task; does nothing if the exchange has failed.
    func deliver(_ response: HTTPSResponse) {
        state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard !state.hasFailed else { return nil }
            state.answer = .success(response)
            defer { state.waiter = nil }
            return state.waiter
        }?.resume(returning: .success(response))
    }

    /// Ends the exchange with an error and closes its connection; does nothing if the exchange is over.
    func fail(_ code: HTTPSClientError.Code, _ cause: @autoclosure () -> String) {
        let ended = state.withLock { state -> (state: State, error: HTTPSClientError)? in
            guard !state.isOver else { return nil }
            let (before, error) = (state, HTTPSClientError(code, cause(), mayHaveReachedServer: state.isSent))
            (state.isOver, state.hasFailed, state.answer) = (true, true, .failure(error))
            (state.waiter, state.channel, state.timer, state.connectTimer) = (nil, nil, nil, nil)
            return (before, error)
        }
        guard let (before, error) = ended else { return }
        before.channel?.close(promise: nil)
        before.timer?.cancel()
        before.connectTimer?.cancel()
        before.waiter?.resume(returning: .failure(error))
    }
}
