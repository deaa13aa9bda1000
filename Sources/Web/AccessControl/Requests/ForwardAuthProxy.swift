// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// The proxies that can send forward authentication requests.
///
/// Each proxy describes the original request in its own way.
package enum ForwardAuthProxy: String, Sendable, Hashable, CaseIterable {
    /// `auth_request` of nginx, configured to send `X-Original-URL` and `X-Original-Method`, as ingress-nginx does.
    case nginx
    /// `forward_auth` of Caddy: `X-Forwarded-Method`, `-Proto`, `-Host` and `-Uri`.
    case caddy
    /// `forwardAuth` of Traefik: the same four fields.
    case traefik
    /// `auth-request.lua` of HAProxy, configured to send the same four fields.
    case haproxy
    /// `ext_authz` of Envoy: its request has the method and host of the original request, and its path after a prefix.
    case envoy

    /// Finds a proxy by its name; nil if there is no such proxy.
    ///
    /// - Parameter name: The name, such as `nginx`.
    package init?(_ name: UTF8Text) {
        guard let proxy = Self.allCases.first(where: { UTF8Text($0.rawValue) == name }) else { return nil }
        self = proxy
    }

    /// True if the proxy appends the path of the original request to the path of its own request.
    package var sendsPath: Bool { self == .envoy }
}
