// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Calls that are made only once if several callers make the same call at the same time.
///
/// A caller who is cancelled does not affect the others. When the last caller is cancelled, the call is cancelled.
package final class SharedCalls<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    /// Starts a call, which passes its result on any thread, and returns the function that cancels it; must not block.
    package typealias Start = (_ complete: @escaping @Sendable (Value) -> Void) -> @Sendable () -> Void

    private enum Name: Hashable {
        case shared(Key)
        case alone(UInt64)
    }

    private struct Call {
        let number: UInt64
        var cancel: (@Sendable () -> Void)?
        var waiting: [UInt64: CheckedContinuation<Value?, Never>]
    }

    private struct State {
        var calls: [Name: Call] = [:]
        var lastNumber: UInt64 = 0
        var joined = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of callers that wait.
    package var waitingCallers: Int { state.withLock { $0.calls.values.reduce(0) { $0 + $1.waiting.count } } }

    /// The number of callers that have joined the call of another one.
    package var joined: Int { state.withLock { $0.joined } }

    /// Makes a call in a task of its own, or waits for the result of the same call by another caller; nil if the caller is
    /// cancelled.
    ///
    /// The task begins on the thread of its first caller, so the call must not block.
    package func value(of key: Key, _ call: @escaping @Sendable () async -> Value) async -> Value? {
        await value(of: key) { complete in
            let task = Task.immediate { complete(await call()) }
            return { task.cancel() }
        }
    }

    /// Starts a call, or waits for the result of the same call by another caller, which a call without a key is not; nil if
    /// the caller is cancelled.
    package func value(of key: Key?, start: Start) async -> Value? {
        guard !Task.isCancelled else { return nil }
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let name = key.map { Name.shared($0) } ?? .alone(number)
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                join(name, as: number, continuation: continuation, start)
                // The task may have been cancelled before it joined the call.
                if Task.isCancelled { leave(name, as: number) }
            }
        } onCancel: {
            leave(name, as: number)
        }
    }

    private func join(
        _ name: Name,
        as number: UInt64,
        continuation: CheckedContinuation<Value?, Never>,
        _ start: Start
    ) {
        let isFirst = state.withLock { state in
            if state.calls[name] != nil {
                state.calls[name]?.waiting[number] = continuation
                state.joined += 1
                return false
            }
            state.calls[name] = Call(number: number, cancel: nil, waiting: [number: continuation])
            return true
        }
        guard isFirst else { return }
        let cancel = start { [self] value in finish(name, as: number, value: value) }
        let isWanted = state.withLock { state in
            guard state.calls[name]?.number == number else { return false }
            state.calls[name]?.cancel = cancel
            return true
        }
        // The call has ended, or all callers have left before the function could be recorded.
        if !isWanted { cancel() }
    }

    private func leave(_ name: Name, as number: UInt64) {
        let (continuation, cancel) = state.withLock {
            state -> (CheckedContinuation<Value?, Never>?, (@Sendable () -> Void)?) in
            guard let continuation = state.calls[name]?.waiting.removeValue(forKey: number) else { return (nil, nil) }
            guard state.calls[name]?.waiting.isEmpty == true else { return (continuation, nil) }
            return (continuation, state.calls.removeValue(forKey: name)?.cancel)
        }
        cancel?()
        continuation?.resume(returning: nil)
    }

    private func finish(_ name: Name, as number: UInt64, value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value?, Never>] in
            // After all callers have left, another call may have the same key.
            guard state.calls[name]?.number == number else { return [] }
            // A key path in generic code would be made at each call.
            return state.calls.removeValue(forKey: name).map { Array($0.waiting.values) } ?? []
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }
}
