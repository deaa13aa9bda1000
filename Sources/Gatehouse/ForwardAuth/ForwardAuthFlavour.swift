// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// How a proxy tells which request it asks about.
enum ForwardAuthFlavour: String, Sendable, Hashable, CaseIterable {
    /// `auth_request` of nginx, set up to send `X-Original-URL` and `X-Original-Method`; ingress-nginx does so by itself.
    case nginx
    /// `forward_auth` of Caddy: `X-Forwarded-Method`, `-Proto`, `-Host` and `-Uri`.
    case caddy
    /// `forwardAuth` of Traefik: the same four.
    case traefik
    /// `auth-request.lua` of HAProxy, set up to send the same four.
    case haproxy
    /// `ext_authz` of Envoy: the method, host and path of the question are those of the request, behind a prefix.
    case envoy
}
