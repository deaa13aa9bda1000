// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import RealmKit

/// The client of a check, as servers write it.
///
/// Its port changes with every connection, so it is no part of what is counted and cached.
enum Peer {
    case address(NetworkAddress)
    /// A Unix socket, a client in the same process, or a program that names none.
    case local

    static let fault = "the peer is not an IPv4 or IPv6 address, with or without a port"

    /// Reads an address with or without a port, or the remote peer of a gRPC server; nil if it is neither.
    init?(_ text: String?) {
        guard let text else {
            self = .local
            return
        }
        if let address = NetworkAddress(withOrWithoutPort: text[...]) {
            self = .address(address)
            return
        }
        func rest(after prefix: String) -> Substring? {
            text.utf8.starts(with: prefix.utf8) ? Substring(text.utf8.dropFirst(prefix.utf8.count)) : nil
        }
        let address: NetworkAddress?
        if let version4 = rest(after: "ipv4:") {
            // With one colon, it can only be an IPv4 address with a port.
            guard version4.utf8.count(where: { $0 == ASCII.colon }) == 1 else { return nil }
            address = NetworkAddress(withOrWithoutPort: version4)
        } else if let version6 = rest(after: "ipv6:") {
            guard version6.utf8.first == UInt8(ascii: "["), version6.utf8.last != UInt8(ascii: "]") else { return nil }
            address = NetworkAddress(withOrWithoutPort: version6)
        } else if rest(after: "unix:") != nil || rest(after: "in-process:") != nil || text.hasBytes(of: "in-process") {
            self = .local
            return
        } else {
            // The zone of an address without a port is ignored.
            address = NetworkAddress(text[...])
        }
        guard let address else { return nil }
        self = .address(address)
    }

    /// The canonical text of the address.
    var address: String? { if case .address(let address) = self { address.description } else { nil } }
}
