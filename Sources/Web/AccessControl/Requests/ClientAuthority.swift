// SPDX-License-Identifier: Apache-2.0

package import Bytes
package import RealmKit

/// The host and port that a request is for.
///
/// The host determines the rule that decides. By default, host and port are the value of `Host`. If the configuration
/// trusts the proxy to set `X-Forwarded-Host`, they are the value of that field.
///
/// `X-Forwarded-Host` is not used by default, because some proxies set only `X-Forwarded-For` and forward the
/// `X-Forwarded-Host` of the client. The application behind Gatehouse may still use `X-Forwarded-Host`, so a request is
/// rejected if this field and `Host` name different hosts.
package enum ClientAuthority: Sendable, Hashable {
    /// The host and port.
    ///
    /// They are not parsed yet.
    case authority(String)
    /// 400, with the reason: the request names two hosts, or a host that cannot be parsed.
    case rejected(String)

    /// Returns the host and port of a request.
    ///
    /// - Parameters:
    ///   - hostField: The value of `Host` or `:authority`.
    ///   - peer: The address at the other end of the connection.
    ///   - trusted: The proxies whose forwarded headers are trusted.
    ///   - usesForwardedHost: True if the `X-Forwarded-Host` of a trusted proxy replaces `Host`.
    ///   - forwarded: The values of all `X-Forwarded-Host` fields. They are read only if the peer is trusted.
    /// - Returns: The host and port, or the reason for the rejection.
    package static func find(
        hostField: String,
        peer: String?,
        trusted: [CIDRBlock],
        usesForwardedHost: Bool,
        forwarded: @autoclosure () -> [UTF8Text]
    ) -> ClientAuthority {
        guard ClientAddress.isTrusted(peer, trusted) else { return .authority(hostField) }
        let forwarded = forwarded()
        guard let named = forwarded.first else { return .authority(hostField) }
        guard forwarded.count == 1 else { return .rejected("X-Forwarded-Host occurs more than once") }
        guard let host = RequestHost(named.string) else { return .rejected("X-Forwarded-Host is not a single host") }
        if usesForwardedHost { return .authority(named.string) }
        guard RequestHost(hostField)?.name.hasBytes(of: host.name) == true else {
            return .rejected("X-Forwarded-Host and Host name different hosts")
        }
        return .authority(hostField)
    }
}
