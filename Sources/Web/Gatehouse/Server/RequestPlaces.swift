// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import RealmKit
internal import Synchronization

/// The requests in progress: those that wait for their body or are answered in a task, of each client and in all.
///
/// A client behind a trusted proxy is counted by its own address, so that it cannot use up the places of the proxy. At
/// the limit for all, a client with few requests still gets a place.
final class RequestPlaces: Sendable {
    private struct State {
        var total = 0
        var peak = 0
        var clients: [ClientNetwork: Int] = [:]
    }

    /// The number of requests of a client that are accepted although the limit for all is reached.
    static let reserved = 4

    private static let minimum = 16

    private let total: Int
    private let perClient: Int
    private let state = Mutex(State())

    init(total: Int, perClient: Int) {
        self.total = total
        self.perClient = perClient
    }

    /// The places for the limits for connections: a quarter of these, because a request takes more memory than a
    /// connection.
    convenience init(_ limits: HTTPLimits) {
        self.init(
            total: max(Self.minimum, limits.connections / 4),
            perClient: max(Self.minimum, limits.connectionsPerAddress / 4)
        )
    }

    /// Takes a place for a request of a client; nil if there is none.
    func take(for address: String?) -> RequestPlace? {
        let client = ClientNetwork(address ?? "")
        return state.withLock { state in
            let own = state.clients[client] ?? 0
            let limit = own < Self.reserved ? total + total / 4 : total
            guard own < perClient, state.total < limit else { return nil }
            state.clients[client] = own + 1
            state.total += 1
            state.peak = max(state.peak, state.total)
            return RequestPlace(self, client: client)
        }
    }

    fileprivate func release(_ client: ClientNetwork) {
        state.withLock { state in
            state.total -= 1
            let left = (state.clients[client] ?? 1) - 1
            state.clients[client] = left > 0 ? left : nil
        }
    }

    /// Returns the largest number of requests since the last call.
    func takePeak() -> Int {
        state.withLock { state in
            defer { state.peak = state.total }
            return state.peak
        }
    }
}

/// The place of a request, until the request is answered, or its connection ends.
final class RequestPlace: Sendable {
    private let places: RequestPlaces
    private let client: ClientNetwork
    private let isReleased = Atomic(false)

    fileprivate init(_ places: RequestPlaces, client: ClientNetwork) {
        self.places = places
        self.client = client
    }

    deinit { release() }

    func release() {
        if !isReleased.exchange(true, ordering: .relaxed) { places.release(client) }
    }
}
