// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import LoginConf
internal import RealmKit

/// The addresses of a configuration that cannot be bound together.
struct AddressClashes {
    let builder: ConfigurationBuilder
    /// True if a socket on `::` also takes IPv4 connections: ipv6(7), IPV6_V6ONLY.
    private let isDualStack: Bool

    init(builder: ConfigurationBuilder) {
        self.builder = builder
        isDualStack =
            switch builder.loader.files.read("/proc/sys/net/ipv6/bindv6only") {
            case .success(let contents): contents.bytes.first != UInt8(ascii: "1")
            case .failure: true
            }
    }

    /// Reports each address that clashes with one before it in the file.
    ///
    /// With port 0 the system chooses a port, so such an address clashes with none. Names are not resolved.
    ///
    /// - Parameter addresses: All addresses on which the server listens.
    func report(_ addresses: [Located<ServerSettings.Address>]) {
        let sorted = addresses.sorted { $0.range.start < $1.range.start }
        for (index, address) in sorted.enumerated() where address.port != 0 {
            guard let other = sorted[..<index].first(where: { $0.port == address.port && overlap($0, address) }) else {
                continue
            }
            report(address, with: other)
        }
    }

    private func report(_ address: Located<ServerSettings.Address>, with other: Located<ServerSettings.Address>) {
        let isDefault = other.range == .none
        let place = builder.text.place(of: other.range)
        let (message, hint): (String, String) =
            switch (Kind(other.host), Kind(address.host)) {
            case (let earlier, let later) where earlier == later:
                (
                    "a second \(address.value)",
                    isDefault
                        ? "the server listens on \(other.value) if there is no listen statement; choose another port"
                        : "the first one is at \(place); choose another port"
                )
            case (let earlier, let later):
                (
                    includes(earlier, later)
                        ? "\(other.value) includes \(address.value)" : "\(address.value) includes \(other.value)",
                    isDefault
                        ? "the server listens on \(other.value) if there is no listen statement; choose another port"
                        : "the other one is at \(place); remove one of them, or choose another port"
                )
            }
        builder.error(at: address.range, message, hint: hint)
    }

    private func overlap(_ first: Located<ServerSettings.Address>, _ second: Located<ServerSettings.Address>) -> Bool {
        let (first, second) = (Kind(first.host), Kind(second.host))
        return first == second || includes(first, second) || includes(second, first)
    }

    /// Returns whether a socket on one host takes the connections to another.
    private func includes(_ first: Kind, _ second: Kind) -> Bool {
        switch first {
        case .all(isIPv4: true): second.isIPv4 == true
        case .all(isIPv4: false): isDualStack || second.isIPv4 == false
        case .address, .name: false
        }
    }

    /// The host of an address.
    private enum Kind: Equatable {
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
    }
}
