// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The context of new connections.
///
/// It can be replaced while existing connections continue.
///
/// It can be used from any thread. A lock is held while a reference is copied.
public final class TLSContextSource: Sendable {
    private let context: Mutex<TLSContext>

    /// Creates a source.
    public init(_ context: TLSContext) {
        self.context = Mutex(context)
    }

    /// The context for a new connection.
    public var current: TLSContext { context.withLock { $0 } }

    /// Replaces the context of new connections.
    ///
    /// - Returns: The previous context.
    @discardableResult
    public func replace(with next: TLSContext) -> TLSContext {
        context.withLock { context in
            defer { context = next }
            return context
        }
    }
}
