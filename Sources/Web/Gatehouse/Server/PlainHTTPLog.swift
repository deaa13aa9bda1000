// SPDX-License-Identifier: Apache-2.0

internal import Logging
internal import RealmKit
internal import Synchronization

/// Logs plain HTTP requests on the TLS port, at most once a minute, so that no client can fill the log.
final class PlainHTTPLog: Sendable {
    private struct State {
        var last: UInt64?
        var suppressed = 0
    }

    private let logger: Logger
    private let clock: any LoginClock
    private let state = Mutex(State())

    init(_ logger: Logger, clock: any LoginClock) {
        self.logger = logger
        self.clock = clock
    }

    /// Logs a request.
    ///
    /// - Parameter peer: The address of the client.
    func log(peer: String?) {
        let now = clock.now
        let suppressed: Int? = state.withLock { state in
            if let last = state.last, now &- last < 60_000_000_000 {
                state.suppressed += 1
                return nil
            }
            defer { state = State(last: now) }
            return state.suppressed
        }
        guard let suppressed else { return }
        let others = suppressed == 0 ? "" : ", and \(suppressed) times since the last such message"
        logger.notice(
            "plain HTTP was sent to a TLS port\(others); it was answered with 400",
            metadata: ["peer": "\(peer ?? "-")"]
        )
    }
}
