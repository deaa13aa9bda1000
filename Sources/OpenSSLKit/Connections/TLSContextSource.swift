// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The context that new connections take, which may be replaced while others go on.
///
/// Usable from any thread; a lock is held for as long as it takes to copy a reference.
public final class TLSContextSource: Sendable {
    private let context: Mutex<TLSContext>

    /// Makes a source that gives out a context.
    public init(_ context: TLSContext) {
        self.context = Mutex(context)
    }

    /// The context for a connection that begins now.
    public var current: TLSContext { context.withLock { $0 } }

    /// Makes connections that begin from now on take another context.
    ///
    /// - Returns: The one before.
    @discardableResult
    public func replace(with next: TLSContext) -> TLSContext {
        context.withLock { context in
            defer { context = next }
            return context
        }
    }
}
