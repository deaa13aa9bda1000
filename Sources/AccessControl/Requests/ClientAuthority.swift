// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
package import RealmKit

/// The host and port that a request is for.
///
/// They are those of `Host`, or those of `X-Forwarded-Host` if the configuration trusts the proxy to set that field.
/// The host determines the rule that decides.
///
/// A proxy that sets only `X-Forwarded-For` passes on the `X-Forwarded-Host` that the client has written. So by default
/// that field decides nothing, and a request in which it contradicts `Host` is rejected: an application behind the same
/// proxy may rely on it.
package enum ClientAuthority: Sendable, Hashable {
    /// Host and port, not parsed yet.
    case authority(String)
    /// The request names two hosts, or one that cannot be parsed: 400.
    case refused(String)

    /// Returns the host and port of a request.
    ///
    /// - Parameters:
    ///   - own: The value of `Host` or `:authority`.
    ///   - peer: The address at the other end of the connection.
    ///   - trusted: The proxies whose forwarded headers are trusted; those of any other peer are not read.
    ///   - isForwarded: True if `X-Forwarded-Host` of a trusted proxy replaces `Host`.
    ///   - forwarded: The values of all `X-Forwarded-Host` fields; evaluated only if the peer is trusted.
    /// - Returns: Host and port, or the reason for the rejection.
    package static func find(
        own: String,
        peer: String?,
        trusted: [CIDRBlock],
        isForwarded: Bool,
        forwarded: @autoclosure () -> [UTF8Text]
    ) -> ClientAuthority {
        guard ClientAddress.isTrusted(peer, trusted) else { return .authority(own) }
        let forwarded = forwarded()
        guard let named = forwarded.first else { return .authority(own) }
        guard forwarded.count == 1 else { return .refused("X-Forwarded-Host occurs more than once") }
        guard let host = RequestHost(named.string) else { return .refused("X-Forwarded-Host is not one host") }
        if isForwarded { return .authority(named.string) }
        guard RequestHost(own)?.name.hasBytes(of: host.name) == true else {
            return .refused("X-Forwarded-Host and Host name different hosts")
        }
        return .authority(own)
    }
}
