// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import Synchronization

/// A cache with one value for each browser, such as a rejected user name.
///
/// The number of browsers is limited.
final class PerBrowserCache<Value: Sendable>: Sendable {
    private struct State {
        var values: [Digest: Value] = [:]
        var order: [Digest] = []
    }

    private let capacity: Int
    private let state = Mutex(State())

    /// An empty cache.
    ///
    /// - Parameter capacity: The maximum number of browsers.
    init(capacity: Int = 1000) { self.capacity = capacity }

    /// Stores a value.
    ///
    /// If there are too many values, the oldest value is evicted.
    ///
    /// - Parameters:
    ///   - value: The value.
    ///   - browser: The browser.
    /// - Returns: The value that was replaced; nil if the browser had none.
    @discardableResult
    func put(_ value: Value, for browser: Digest) -> Value? {
        state.withLock { state in
            let replaced = state.values.updateValue(value, forKey: browser)
            if replaced == nil { state.order.append(browser) }
            if state.order.count > capacity { state.values[state.order.removeFirst()] = nil }
            return replaced
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
