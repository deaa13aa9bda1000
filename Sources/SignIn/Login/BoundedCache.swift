// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import OpenSSLKit
internal import Synchronization

/// A cache with one value per browser, such as a rejected user name, for a bounded number of browsers.
final class BoundedCache<Value: Sendable>: Sendable {
    private struct State {
        var values: [Digest: Value] = [:]
        var order: [Digest] = []
    }

    private let bound: Int
    private let state = Mutex(State())

    /// - Parameter bound: The number of browsers.
    init(bound: Int = 1000) { self.bound = bound }

    /// Stores a value; the oldest value is evicted if there are too many.
    func put(_ value: Value, for browser: Digest) {
        state.withLock { state in
            if state.values.updateValue(value, forKey: browser) == nil { state.order.append(browser) }
            if state.order.count > bound { state.values[state.order.removeFirst()] = nil }
        }
    }

    /// Returns the value of a browser.
    func of(_ browser: Digest) -> Value? { state.withLock { $0.values[browser] } }

    /// Removes and returns the value of a browser.
    func take(_ browser: Digest) -> Value? {
        state.withLock { state in
            guard let value = state.values.removeValue(forKey: browser) else { return nil }
            state.order.removeAll { $0 == browser }
            return value
        }
    }
}
