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

/// The host of an address to listen on: an address, or a name, which may be an address with a zone.
private struct BoundHost: Equatable {
    private let address: NetworkAddress?
    private let name: UTF8Text

    init(_ host: String) {
        address = host.utf8.contains(UInt8(ascii: "%")) ? nil : NetworkAddress(host[...])
        name = UTF8Text(address == nil ? host.lowercased() : "")
    }

    /// True for IPv4, false for IPv6, and nil for a name.
    private var isIPv4: Bool? {
        if let address { return address.isIPv4Mapped }
        return name.string.utf8.contains(UInt8(ascii: ":")) ? false : nil
    }

    /// Returns whether a socket on this host takes the connections to another.
    func includes(_ other: BoundHost, _ isDualStack: Bool) -> Bool {
        guard let address, address.isUnspecified else { return false }
        return address.isIPv4Mapped ? other.isIPv4 == true : isDualStack || other.isIPv4 == false
    }
}
