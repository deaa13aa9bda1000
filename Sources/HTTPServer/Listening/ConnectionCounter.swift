// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import NIOCore
internal import Synchronization

/// Counts connections, all together and by address, over all event loops.
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

    /// Whether one more connection may be there; it is counted if so.
    func admit(_ address: AddressKey) -> Admission {
        state.withLock { state in
            guard state.total < total else { return .full }
            guard state.byAddress[address, default: 0] < perAddress else { return .fullForAddress }
            state.total += 1
            state.byAddress[address, default: 0] += 1
            return .admitted
        }
    }

    /// What becomes of a new connection.
    enum Admission {
        case admitted
        case full
        case fullForAddress
    }

    /// Takes a connection off the count.
    func leave(_ address: AddressKey) {
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

    /// Waits until there is no connection any more.
    ///
    /// To be called once.
    func waitForNone() async {
        await withCheckedContinuation { continuation in
            let isNone = state.withLock { state in
                guard state.total > 0 else { return true }
                state.waiter = continuation
                return false
            }
            if isNone { continuation.resume() }
        }
    }
}

/// A client's address as far as connections are counted by it.
struct AddressKey: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// All of an IPv4 address, the first 64 bits of one of IPv6: a home or a machine has a whole network of that size.
    init(_ address: SocketAddress?) {
        let words = unsafe address?.withSockAddr { pointer, count in
            let bytes = unsafe UnsafeRawBufferPointer(start: pointer, count: count)
            func word(_ offset: Int) -> UInt64 {
                UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            // sockaddr_in has its address at 4, sockaddr_in6 at 8.
            return switch address?.protocol {
            case .inet: (UInt64(0), word(4) >> 32)
            // ::ffff:a.b.c.d is IPv4 by another name: the addresses behind it differ in the last 32 bits.
            case .inet6 where word(8) == 0 && word(16) >> 32 == 0xFFFF: (0, word(16) & 0xFFFF_FFFF)
            case .inet6: (word(8), 0)
            default: (0, 0)
            }
        }
        high = words?.0 ?? 0
        low = words?.1 ?? 0
    }
}
