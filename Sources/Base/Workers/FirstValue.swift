// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that is set once and that one task waits for; later values are ignored.
package final class FirstValue<Value: Sendable>: Sendable {
    private enum State {
        case open
        case waited(CheckedContinuation<Value, Never>)
        case settled(Value)
    }

    private let state = Mutex(State.open)

    package init() {}

    /// Sets the value, unless it is already set.
    package func set(_ value: Value) {
        let waiting: CheckedContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .open:
                state = .settled(value)
                return nil
            case .waited(let continuation):
                state = .settled(value)
                return continuation
            case .settled: return nil
            }
        }
        waiting?.resume(returning: value)
    }

    /// The value; nil if it is not set.
    package var current: Value? {
        state.withLock { state in
            if case .settled(let value) = state { return value }
            return nil
        }
    }

    /// Waits for the value; only one task may wait.
    package func value() async -> Value {
        await withCheckedContinuation { continuation in
            let settled: Value? = state.withLock { state in
                if case .settled(let value) = state { return value }
                state = .waited(continuation)
                return nil
            }
            if let settled { continuation.resume(returning: settled) }
        }
    }
}
