// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import HTTPLimits
internal import NIOCore
internal import Synchronization

/// Counts the connections of all event loops, in total and for each client address.
final class ConnectionCounter: Sendable {
    private struct State {
        var total = 0
        var byAddress: [AddressKey: Int] = [:]
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let total: Int
    private let perAddress: Int
    private let state = Mutex(State())

    init(_ limits: HTTPLimits) {
        total = limits.connections
        perAddress = limits.connectionsPerAddress
    }

    /// The number of counted connections.
    var count: Int { state.withLock { $0.total } }

    /// Counts one more connection, if the limits allow it.
    func admit(_ address: AddressKey) -> Admission {
        state.withLock { state in
            guard state.total < total else { return .full }
            guard state.byAddress[address, default: 0] < perAddress else { return .fullForAddress }
            state.total += 1
            state.byAddress[address, default: 0] += 1
            return .admitted
        }
    }

    /// The decision about a new connection.
    enum Admission {
        case admitted
        case full
        case fullForAddress
    }

    /// Removes a connection from the count.
    func release(_ address: AddressKey) {
        let waiter: CheckedContinuation<Void, Never>? = state.withLock { state in
            state.total -= 1
            let count = state.byAddress[address, default: 1] - 1
            state.byAddress[address] = count > 0 ? count : nil
            guard state.total == 0 else { return nil }
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    /// Waits until all connections have ended.
    ///
    /// It must be called only once.
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
