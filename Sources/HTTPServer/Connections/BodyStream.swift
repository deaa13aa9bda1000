// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore

/// The body of a request on its way from the event loop to a task, with back-pressure.
enum BodyStream {
    typealias Sequence = NIOThrowingAsyncSequenceProducer<
        ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark, Delegate
    >

    /// Where the event loop puts the body.
    struct Source {
        let base: Sequence.Source

        /// - Returns: Whether more can be taken now.
        func yield(_ data: ByteBuffer) -> Bool {
            switch base.yield(data) {
            case .produceMore: true
            case .stopProducing: false
            // Nobody reads it any more; the rest is dropped.
            case .dropped: true
            }
        }

        func finish() { base.finish() }

        func finish(_ error: any Error) { base.finish(error) }
    }

    /// Makes a stream.
    ///
    /// - Parameters:
    ///   - eventLoop: Where the body comes from.
    ///   - onWanted: Called there when more of it can be taken.
    /// - Returns: What the task reads, and where the event loop puts it.
    static func make(
        on eventLoop: any EventLoop,
        _ onWanted: @escaping @Sendable (Bool) -> Void
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
        let onWanted: @Sendable (Bool) -> Void

        func produceMore() { eventLoop.execute { onWanted(true) } }

        func didTerminate() { eventLoop.execute { onWanted(false) } }
    }
}
