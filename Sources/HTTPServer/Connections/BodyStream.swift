// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// The stream that passes the body of a request from the event loop to a task, with back-pressure.
enum BodyStream {
    typealias Sequence = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Delegate
    >

    /// The writing end of the stream, on the event loop.
    struct Source {
        let base: Sequence.Source

        /// Adds a piece of the body.
        ///
        /// - Returns: True if the stream can accept more now.
        func yield(_ data: ByteBuffer) -> Bool {
            switch base.yield(data) {
            case .produceMore: true
            case .stopProducing: false
            // The task has stopped reading, so the rest is dropped.
            case .dropped: true
            }
        }

        func finish() { base.finish() }

        func finish(_ error: any Error) { base.finish(error) }
    }

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - eventLoop: The event loop of the connection.
    ///   - onDemand: Called on the event loop when the stream can accept more, and when the task stops reading.
    /// - Returns: The stream for the task, and its source for the event loop.
    static func make(
        on eventLoop: any EventLoop,
        onDemand: @escaping @Sendable () -> Void
    ) -> (stream: Sequence, source: Source) {
        let made = Sequence.makeSequence(
            elementType: ByteBuffer.self,
            failureType: (any Error).self,
            backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4),
            finishOnDeinit: false,
            delegate: Delegate(eventLoop: eventLoop, onDemand: onDemand)
        )
        return (made.sequence, Source(base: made.source))
    }

    struct Delegate: NIOAsyncSequenceProducerDelegate, Sendable {
        let eventLoop: any EventLoop
        let onDemand: @Sendable () -> Void

        func produceMore() { eventLoop.execute { onDemand() } }

        func didTerminate() { eventLoop.execute { onDemand() } }
    }
}
