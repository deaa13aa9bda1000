// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A cache of the responses that depend only on one authentication: a session, or an entry of the credential cache.
package final class ResponseCache: Sendable {
    /// The maximum number of cached responses; further ones are created again by each call.
    package static let capacity = 32

    private struct State {
        var responses: [Int: any Sendable & AnyObject] = [:]
        var generation = 0
    }

    @usableFromInline package struct Lookup {
        @usableFromInline package let response: (any Sendable & AnyObject)?
        /// The number of times that the cache was emptied before.
        @usableFromInline package let generation: Int
    }

    private let state = Mutex(State())

    package init() {}

    /// Returns the response of a key, which is created if it is not cached, or not current.
    ///
    /// Two threads may create the response at the same time; one of the two results is cached.
    // Inlinable, because a cast to a class that is known in advance is much faster than one to a type parameter.
    @inlinable
    package func response<Response: Sendable & AnyObject>(
        for key: Int,
        isCurrent: (Response) -> Bool = { _ in true },
        make: () -> Response
    ) -> Response {
        let found = lookUp(key)
        if let response = found.response as? Response, isCurrent(response) { return response }
        // The response is created without the lock, because `make` may call this cache.
        let made = make()
        store(made, for: key, ifStillIn: found.generation)
        return made
    }

    @usableFromInline
    package func lookUp(_ key: Int) -> Lookup {
        state.withLock { Lookup(response: $0.responses[key], generation: $0.generation) }
    }

    @usableFromInline
    package func store(_ response: any Sendable & AnyObject, for key: Int, ifStillIn generation: Int) {
        state.withLock { state in
            guard generation == state.generation, state.responses.count < Self.capacity || state.responses[key] != nil
            else { return }
            state.responses[key] = response
        }
    }

    /// Removes all responses; those that are being created are not cached.
    package func removeAll() {
        state.withLock { state in
            state.responses = [:]
            state.generation += 1
        }
    }
}
