// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import NIOCore
internal import Synchronization

/// Counts the connections of all event loops, in total and for each client address.
///
/// At a limit, the idlest connection of the address with the most connections is evicted for a new one; if that address
/// has no idle connection, the idlest of others is evicted. So idle connections, also those of an attacker, keep no
/// client out.
final class ConnectionCounter: Sendable {
    private struct Client {
        var places: [ObjectIdentifier: ConnectionPlace] = [:]
        var unsentCount = 0
    }

    private struct State {
        var total = 0
        var unsentCount = 0
        var clients: [AddressKey: Client] = [:]
        var waiter: CheckedContinuation<Void, Never>?

        var largestClient: AddressKey? { clients.max { $0.value.places.count < $1.value.places.count }?.key }

        func idlest(of address: AddressKey) -> ConnectionPlace? {
            ConnectionCounter.idlest(of: (clients[address]?.places ?? [:]).values)
        }

        /// Returns the connection to evict at the limit of all, for a new one of an address; nil if there is none.
        func idlestForNew(of address: AddressKey) -> ConnectionPlace? {
            guard let largest = largestClient else { return nil }
            if let place = idlest(of: largest) { return place }
            // An address with the most connections takes none from others.
            guard clients[address]?.places.count ?? 0 < clients[largest]?.places.count ?? 0 else { return nil }
            // Only some of each address, so that addresses with many tasks do not use up the search.
            return ConnectionCounter.idlest(
                of: clients.values.lazy.flatMap { $0.places.values.prefix(ConnectionCounter.maximumSearchPerAddress) }
            )
        }
    }

    /// Returns the connection that has been idle for the longest time; nil if none is idle.
    private static func idlest(of places: some Sequence<ConnectionPlace>) -> ConnectionPlace? {
        var idlest: (place: ConnectionPlace, time: UInt64)?
        // The number is limited, because the lock is held.
        for place in places.prefix(maximumSearch) {
            let time = place.idleTime
            if time > idlest?.time ?? 0 { idlest = (place, time) }
        }
        return idlest?.place
    }

    private static let maximumSearch = 2048
    private static let maximumSearchPerAddress = 64
    /// The number of connections above a limit, while the evicted ones are being closed.
    static let evictionCount = 16

    private let total: Int
    private let perAddress: Int
    private let state = Mutex(State())

    init(_ limits: HTTPLimits) {
        total = limits.connections
        perAddress = limits.connectionsPerAddress
    }

    var count: Int { state.withLock { $0.total } }

    /// The number of counted connections, and of responses that wait for their clients.
    var load: Int { state.withLock { $0.total + $0.unsentCount } }

    /// Counts one more connection, if the limits allow it or an idle connection can be evicted.
    func admit(_ place: ConnectionPlace) -> Admission {
        let (admission, evicted) = state.withLock { state -> (Admission, ConnectionPlace?) in
            let own = state.clients[place.address]?.places.count ?? 0
            let mayEvict = own < perAddress + Self.evictionCount && state.total < total + Self.evictionCount
            var evicted: ConnectionPlace?
            if own >= perAddress {
                if mayEvict { evicted = state.idlest(of: place.address) }
                guard evicted != nil else { return (.fullForAddress, nil) }
            } else if state.total >= total {
                if mayEvict { evicted = state.idlestForNew(of: place.address) }
                guard evicted != nil else { return (.full, nil) }
            }
            evicted?.recordIdleTime(nil)
            state.total += 1
            state.clients[place.address, default: Client()].places[ObjectIdentifier(place)] = place
            return (.admitted, evicted)
        }
        evicted?.evict()
        return admission
    }

    enum Admission {
        case admitted
        case full
        case fullForAddress
    }

    func release(_ place: ConnectionPlace) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            guard state.clients[place.address]?.places.removeValue(forKey: ObjectIdentifier(place)) != nil else {
                return nil
            }
            state.total -= 1
            if state.clients[place.address]?.places.isEmpty == true { state.clients[place.address] = nil }
            guard state.total == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Replaces the number of responses of a connection that wait until the client opens the windows of HTTP/2.
    ///
    /// The limits for connections also apply to these; false if the address, or all together, exceed them.
    func replaceUnsentCount(_ old: Int, by new: Int, at address: AddressKey) -> Bool {
        state.withLock { state in
            state.unsentCount += new - old
            state.clients[address]?.unsentCount += new - old
            let own = state.clients[address]?.unsentCount ?? 0
            return new <= old || own <= perAddress && state.unsentCount <= total
        }
    }

    /// Waits until all connections have ended; it must be called only once.
    func waitUntilEmpty() async {
        await withCheckedContinuation { continuation in
            let isEmpty = state.withLock { state in
                guard state.total > 0 else { return true }
                state.waiter = continuation
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }
}

/// The place of one connection in the ``ConnectionCounter``.
final class ConnectionPlace: Sendable {
    let address: AddressKey
    private let counter: ConnectionCounter
    private let idle = Atomic<UInt64>(1)
    /// Ends the connection, if it is idle.
    let evict: @Sendable () -> Void

    init(_ counter: ConnectionCounter, address: AddressKey, onEviction evict: @escaping @Sendable () -> Void) {
        self.counter = counter
        self.address = address
        self.evict = evict
    }

    /// The time for which the connection waits for its client; 0 if a task is running for it.
    var idleTime: UInt64 { idle.load(ordering: .relaxed) }

    func recordIdleTime(_ time: UInt64?) { idle.store(time.map { $0 &+ 1 } ?? 0, ordering: .relaxed) }

    func release() { counter.release(self) }

    func replaceUnsentCount(_ old: Int, by new: Int) -> Bool {
        counter.replaceUnsentCount(old, by: new, at: address)
    }
}

/// The event of a connection that must end, if it is idle, because a new connection needs its place.
struct ConnectionEviction {}

/// The part of a client's address by which connections are counted.
struct AddressKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Uses a whole IPv4 address, or the first 64 bits of an IPv6 address.
    ///
    /// The addresses of an IPv6 network with a prefix of 64 bits usually belong to a single home or machine.
    init(_ address: SocketAddress?) {
        let words = unsafe address?.withSockAddr { pointer, count in
            let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: count)
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            // The address is at offset 4 in sockaddr_in, and at offset 8 in sockaddr_in6.
            return switch address?.protocol {
            case .inet: (UInt64(0), word(4) >> 32)
            // ::ffff:a.b.c.d is an IPv4 address in the last 32 bits.
            case .inet6 where word(8) == 0 && word(16) >> 32 == 0xFFFF: (0, word(16) & 0xFFFF_FFFF)
            case .inet6: (word(8), 0)
            default: (0, 0)
            }
        }
        high = words?.0 ?? 0
        low = words?.1 ?? 0
    }
}
