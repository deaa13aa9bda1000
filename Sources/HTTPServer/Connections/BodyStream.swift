// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// The body of a request on its way from the event loop to a task, with back-pressure.
enum BodyStream {
    typealias Sequence = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Delegate
    >

    /// The end of the stream on the event loop.
    struct Source {
        let base: Sequence.Source

        /// - Returns: True if the stream can take more now.
        func yield(_ data: ByteBuffer) -> Bool {
            switch base.yield(data) {
            case .produceMore: true
            case .stopProducing: false
            // The task has stopped reading; the rest is dropped.
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
    ///   - onWanted: Called there when the stream can take more, and when the task stops reading.
    /// - Returns: The stream for the task, and its source for the event loop.
    static func make(
        on eventLoop: any EventLoop,
        onWanted: @escaping @Sendable () -> Void
    ) -> (stream: Sequence, source: Source) {
        let made = Sequence.makeSequence(
            elementType: ByteBuffer.self,
            failureType: (any Error).self,
            backPressureStrategy: .init(lowWatermark: 2, highWatermark: 4),
            finishOnDeinit: false,
            delegate: Delegate(eventLoop: eventLoop, onWanted: onWanted)
        )
        return (made.sequence, Source(base: made.source))
    }

    struct Delegate: NIOAsyncSequenceProducerDelegate, Sendable {
        let eventLoop: any EventLoop
        let onWanted: @Sendable () -> Void

        func produceMore() { eventLoop.execute { onWanted() } }

        func didTerminate() { eventLoop.execute { onWanted() } }
    }
}
