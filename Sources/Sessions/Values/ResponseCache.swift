// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Synchronization

/// The responses that depend on nothing but an authentication, kept as long as it is valid.
///
/// A session has one, and so has an entry of the credential cache. It may be used from any thread.
package final class ResponseCache: Sendable {
    /// The number of responses that are kept; further ones are made each time.
    package static let capacity = 32

    private struct State {
        var responses: [Int: any Sendable & AnyObject] = [:]
        var generation = 0
    }

    /// A class, as the type of an object is tested more cheaply than that of a value.
    private final class Box<Response: Sendable>: Sendable {
        let response: Response

        init(_ response: Response) { self.response = response }
    }

    private let state = Mutex(State())

    /// An empty cache.
    package init() {}

    /// Returns the response of a key; it is made if there is none.
    ///
    /// Two threads may make it at once; one of the two is kept.
    ///
    /// - Parameters:
    ///   - key: The key of the response.
    ///   - make: Makes the response.
    /// - Returns: The response of a key; it is made if there is none.
    package func response<Response: Sendable>(for key: Int, make: () -> Response) -> Response {
        let (box, generation) = state.withLock { ($0.responses[key] as? Box<Response>, $0.generation) }
        if let box { return box.response }
        // The response is made without the lock: making it may need another response of this cache.
        let made = Box(make())
        state.withLock { state in
            guard generation == state.generation, state.responses.count < Self.capacity || state.responses[key] != nil
            else { return }
            state.responses[key] = made
        }
        return made.response
    }

    /// Removes all responses, and drops those that are being made.
    package func removeAll() {
        state.withLock { state in
            state.responses = [:]
            state.generation += 1
        }
    }
}
