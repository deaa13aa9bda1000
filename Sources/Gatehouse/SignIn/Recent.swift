// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Synchronization

/// One value for each of the last browsers, such as the name that was typed and not accepted.
final class Recent<Value: Sendable>: Sendable {
    private struct State {
        var values: [Digest: Value] = [:]
        var order: [Digest] = []
    }

    private let bound: Int
    private let state = Mutex(State())

    /// - Parameter bound: Of how many browsers.
    init(bound: Int = 1000) { self.bound = bound }

    /// Keeps a value; the oldest is forgotten where there are too many.
    func put(_ value: Value, _ browser: Digest) {
        state.withLock { state in
            if state.values.updateValue(value, forKey: browser) == nil { state.order.append(browser) }
            if state.order.count > bound { state.values[state.order.removeFirst()] = nil }
        }
    }

    /// The value of a browser.
    func of(_ browser: Digest) -> Value? { state.withLock { $0.values[browser] } }

    /// The value of a browser, once.
    func take(_ browser: Digest) -> Value? {
        state.withLock { state in
            guard let value = state.values.removeValue(forKey: browser) else { return nil }
            state.order.removeAll { $0 == browser }
            return value
        }
    }
}
