// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

/// Where a response goes, part by part, on the event loop of its connection.
protocol ResponseTaker: AnyObject {
    /// Writes a part of the response.
    ///
    /// - Parameters:
    ///   - part: What to write.
    ///   - promise: Told when the client's side has taken it.
    func write(_ part: ResponsePart, promise: EventLoopPromise<Void>?)

    /// Breaks the response off, so that the client cannot take it for a whole one.
    func fail()
}

/// Takes a response from its task to the event loop of its connection.
struct ExchangeOutput: Sendable {
    private let exchange: NIOLoopBound<any ResponseTaker>
    private let eventLoop: any EventLoop

    init(_ exchange: NIOLoopBound<any ResponseTaker>, _ eventLoop: any EventLoop) {
        self.exchange = exchange
        self.eventLoop = eventLoop
    }

    /// Sends a response; whatever goes wrong ends the connection.
    func send(_ response: Response) async {
        let part = ResponsePart(head: response.head, length: response.body.contentLength)
        let state = Writer.State(part)
        do {
            try await response.body.write(Writer(output: self, state: state))
            guard state.isFinished else { return fail() }
        } catch {
            fail()
        }
    }

    private func fail() {
        eventLoop.execute { exchange.value.fail() }
    }

    private func write(_ part: ResponsePart) async throws {
        try await eventLoop.flatSubmit {
            let promise = eventLoop.makePromise(of: Void.self)
            exchange.value.write(part, promise: promise)
            return promise.futureResult
        }.get()
    }

    /// Nothing waits for the last part: the connection goes on by itself.
    private func writeLast(_ part: ResponsePart) {
        eventLoop.execute { exchange.value.write(part, promise: nil) }
    }

    /// What Hummingbird's bodies write to.
    struct Writer: ResponseBodyWriter {
        /// What has been written and not been sent.
        ///
        /// Used by one task, one call after the other.
        final class State {
            var part: ResponsePart
            var isFinished = false

            init(_ part: ResponsePart) {
                self.part = part
            }
        }

        let output: ExchangeOutput
        let state: State

        mutating func write(_ buffer: ByteBuffer) async throws {
            state.part.bytes.writeImmutableBuffer(buffer)
            // What has no known end may be news that somebody waits for.
            guard state.part.length == nil || state.part.bytes.readableBytes >= Exchange.collectedSize else { return }
            let part = state.part
            state.part = ResponsePart(length: part.length)
            try await output.write(part)
        }

        consuming func finish(_ trailingHeaders: HTTPFields?) async throws {
            state.part.isLast = true
            state.isFinished = true
            output.writeLast(state.part)
        }
    }
}
