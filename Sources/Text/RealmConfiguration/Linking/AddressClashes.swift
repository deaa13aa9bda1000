// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf
internal import RealmKit

extension ConfigurationBuilder {
    /// Reports each address that cannot be bound together with one before it in the file.
    ///
    /// With port 0 the system chooses a port, so such an address clashes with none. Names are not resolved.
    func reportClashes(of addresses: [Located<ServerSettings.Address>]) {
        let isDualStack = isDualStack
        let sorted = addresses.sorted { $0.range.start < $1.range.start }.map { ($0, BoundHost($0.host)) }
        for (index, (address, host)) in sorted.enumerated() where address.port != 0 {
            let clashing = sorted[..<index].first { other, otherHost in
                other.port == address.port
                    && (host == otherHost || otherHost.includes(host, isDualStack)
                        || host.includes(otherHost, isDualStack))
            }
            guard let (other, otherHost) = clashing else { continue }
            let place = text.place(of: other.range)
            var message = "a second \(address.value)"
            var hint = "the first one is at \(place); choose another port"
            if host != otherHost {
                let (all, one) = otherHost.includes(host, isDualStack) ? (other, address) : (address, other)
                message = "\(all.value) includes \(one.value)"
                hint = "the other one is at \(place); remove one of them, or choose another port"
            }
            if other.isDefault {
                hint = "the server listens on \(other.value) if there is no listen statement; choose another port"
            }
            error(at: address.range, message, hint: hint)
        }
    }

    /// True if a socket on `::` also takes IPv4 connections: ipv6(7), IPV6_V6ONLY.
    private var isDualStack: Bool {
        guard case .success(let bytes) = loader.files.read("/proc/sys/net/ipv6/bindv6only") else { return true }
        return bytes.first != UInt8(ascii: "1")
    }
}

/// The host of an address to listen on.
private enum BoundHost: Equatable {
    /// All addresses of a family.
    case all(isIPv4: Bool)
    case address(NetworkAddress)
    /// A name, or an address with a zone.
    case name(UTF8Text, isIPv6: Bool)

    init(_ host: String) {
        let isIPv6 = host.utf8.contains(UInt8(ascii: ":"))
        guard !host.utf8.contains(UInt8(ascii: "%")), let address = NetworkAddress(host[...]) else {
            self = .name(UTF8Text(host.lowercased()), isIPv6: isIPv6)
            return
        }
        self = address.isUnspecified ? .all(isIPv4: address.isIPv4Mapped) : .address(address)
    }

    /// True for IPv4, false for IPv6, and nil for a name.
    var isIPv4: Bool? {
        switch self {
        case .all(let isIPv4): isIPv4
        case .address(let address): address.isIPv4Mapped
        case .name(_, let isIPv6): isIPv6 ? false : nil
        }
    }

    /// Returns whether a socket on this host takes the connections to another.
    func includes(_ other: BoundHost, _ isDualStack: Bool) -> Bool {
        switch self {
        case .all(isIPv4: true): other.isIPv4 == true
        case .all(isIPv4: false): isDualStack || other.isIPv4 == false
        case .address, .name: false
        }
    }
}
