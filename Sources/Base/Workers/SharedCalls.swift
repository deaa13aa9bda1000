// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Calls that are made only once if several callers make the same call at the same time.
///
/// A call runs in a task of its own, so that a caller who is cancelled does not affect the others. When the last caller
/// is cancelled, the task is cancelled. The task begins on the thread of its first caller, so a call must not block.
package final class SharedCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Call {
        var task: Task<Void, Never>?
        var waiting: [UInt64: CheckedContinuation<Value?, Never>] = [:]
    }

    private struct State {
        var calls: [Key: (number: UInt64, call: Call)] = [:]
        var lastNumber: UInt64 = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of callers that wait.
    package var waitingCallers: Int { state.withLock { $0.calls.values.reduce(0) { $0 + $1.call.waiting.count } } }

    /// Makes a call, or waits for the result of the same call by another caller.
    ///
    /// - Parameters:
    ///   - key: The identity of the call.
    ///   - call: The call.
    /// - Returns: The result; nil if the caller's task was cancelled.
    package func value(of key: Key, _ call: @escaping @Sendable () async -> Value) async -> Value? {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(key, as: number, continuation: continuation, call)
                // The task may have been cancelled before it joined the call.
                if Task.isCancelled { leave(key, as: number) }
            }
        } onCancel: {
            leave(key, as: number)
        }
    }

    private func join(
        _ key: Key,
        as number: UInt64,
        continuation: CheckedContinuation<Value?, Never>,
        _ call: @escaping @Sendable () async -> Value
    ) {
        let isFirst = state.withLock { state in
            if state.calls[key] != nil {
                state.calls[key]?.call.waiting[number] = continuation
                return false
            }
            state.calls[key] = (number, Call(task: nil, waiting: [number: continuation]))
            return true
        }
        guard isFirst else { return }
        let task = Task.immediate { [self] in finish(key, as: number, value: await call()) }
        let isWanted = state.withLock { state in
            guard state.calls[key]?.number == number else { return false }
            state.calls[key]?.call.task = task
            return true
        }
        // The call has ended, or all callers have left before the task could be recorded.
        if !isWanted { task.cancel() }
    }

    private func leave(_ key: Key, as number: UInt64) {
        let (continuation, task) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, Task<Void, Never>?) in
            guard let continuation = state.calls[key]?.call.waiting.removeValue(forKey: number) else {
                return (nil, nil)
            }
            guard state.calls[key]?.call.waiting.isEmpty == true else { return (continuation, nil) }
            return (continuation, state.calls.removeValue(forKey: key)?.call.task)
        }
        task?.cancel()
        continuation?.resume(returning: nil)
    }

    private func finish(_ key: Key, as number: UInt64, value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            // After all callers have left, another call may have the same key.
            guard state.calls[key]?.number == number else { return [] }
            return state.calls.removeValue(forKey: key)?.call.waiting.values.map(\.self) ?? []
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }
}
