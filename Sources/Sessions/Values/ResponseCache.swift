// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// A cache of the responses that depend only on one authentication.
///
/// Each session and each entry of the credential cache has its own response cache. It may be used from any thread.
package final class ResponseCache: Sendable {
    /// The maximum number of cached responses.
    ///
    /// When the cache is full, further responses are created again by each call.
    package static let capacity = 32

    private struct State {
        var responses: [Int: any Sendable & AnyObject] = [:]
        var generation = 0
    }

    /// A response in an object.
    ///
    /// Testing the type of an object is faster than testing the type of a value.
    private final class Box<Response: Sendable>: Sendable {
        let response: Response

        init(_ response: Response) { self.response = response }
    }

    private let state = Mutex(State())

    /// An empty cache.
    package init() {}

    /// Returns the response of a key.
    ///
    /// If the response is not cached, it is created.
    ///
    /// Two threads may create the response at the same time. Then only one of the two results is cached.
    ///
    /// - Parameters:
    ///   - key: The key of the response.
    ///   - make: Creates the response.
    /// - Returns: The cached or created response.
    package func response<Response: Sendable>(for key: Int, make: () -> Response) -> Response {
        let (box, generation) = state.withLock { ($0.responses[key] as? Box<Response>, $0.generation) }
        if let box { return box.response }
        // The response is created without the lock, because `make` may call this cache.
        let made = Box(make())
        state.withLock { state in
            guard generation == state.generation, state.responses.count < Self.capacity || state.responses[key] != nil
            else { return }
            state.responses[key] = made
        }
        return made.response
    }

    /// Removes all responses.
    ///
    /// Responses that are being created are not cached.
    package func removeAll() {
        state.withLock { state in
            state.responses = [:]
            state.generation += 1
        }
    }
}
