// SPDX-License-Identifier: Apache-2.0

package import Bytes

/// The table of the paths of the pages, the session API, the realm API and forward authentication.
package struct Routes: Sendable, Hashable {
    /// The prefix of all paths: empty, or a path such as `/gatehouse`.
    package let prefix: String
    /// True if the paths of the realm API have routes; otherwise they belong to the application.
    package let hasRealmAPI: Bool
    package let hasLogo: Bool
    package let hasIdentityKeys: Bool
    /// The beginning of the paths of forward authentication, which the name of the proxy follows.
    package let forwardAuthPrefix: String
    private let prefixSegments: [UTF8Text]

    package init(
        prefix: String,
        hasRealmAPI: Bool = false,
        hasLogo: Bool = false,
        hasIdentityKeys: Bool = false
    ) {
        self.prefix = prefix
        self.hasRealmAPI = hasRealmAPI
        self.hasLogo = hasLogo
        self.hasIdentityKeys = hasIdentityKeys
        forwardAuthPrefix = prefix + "/auth/"
        prefixSegments = prefix.split(separator: "/").map { UTF8Text(String($0)) }
    }

    package var signIn: String { "\(prefix)/sign-in" }
    package var step: String { "\(prefix)/sign-in/step" }
    package var enter: String { "\(prefix)/enter" }
    package var signOut: String { "\(prefix)/sign-out" }
    package var account: String { "\(prefix)/account" }
    package var accountEnd: String { "\(prefix)/account/end" }

    package func path(of asset: PageAsset) -> String { "\(prefix)/\(asset.rawValue)" }

    /// The routes of the paths of one or two segments after the prefix, without a name in them.
    private static let pages: [UTF8Text: [UTF8Text?: Route]] = [
        "sign-in": [nil: .signIn, "step": .step], "enter": [nil: .enter], "sign-out": [nil: .signOut],
        "account": [nil: .account, "end": .accountEnd], "sessions": [nil: .sessions],
        "session": [nil: .session, "refresh": .sessionRefresh, "events": .sessionEvents],
        "style.css": [nil: .asset(.style)], "session.js": [nil: .asset(.script)], "logo": [nil: .asset(.logo)],
        "jwks.json": [nil: .asset(.identityKeys)],
    ]

    /// Returns the route of a path; nil if it has none.
    package func route(at path: RequestPath) -> Route? {
        guard let (first, rest) = split(path) else { return nil }
        if first == Self.forwardAuth { return forwardAuthRoute(rest, endsInSlash: path.endsInSlash) }
        guard !path.endsInSlash else { return nil }
        if hasRealmAPI, first == Self.realms { return realmRoute(rest) }
        guard rest.count < 2 else { return nil }
        if first == "sessions", let id = rest.first { return .oneSession(id) }
        let route = Self.pages[first]?[rest.first]
        return route == .asset(.logo) && !hasLogo || route == .asset(.identityKeys) && !hasIdentityKeys ? nil : route
    }

    /// Returns the paths of the pages and of the session API, below which no rule has an effect; without that of the identity
    /// keys, which applications read.
    package var pagePaths: [String] {
        Self.pages.keys.filter { $0 != "jwks.json" && (hasLogo || $0 != "logo") }.map { "\(prefix)/\($0.string)" }
    }

    /// Returns the route of the path `realms`, or of a path below it.
    private func realmRoute(_ rest: ArraySlice<UTF8Text>) -> Route? {
        if rest.isEmpty { return .realms }
        guard let realm = rest.first, rest.count == 2, rest.last == "check" else { return nil }
        return .realmCheck(realm)
    }

    /// Returns the route of a path below `auth`, all for proxies: a path with an unknown proxy or with further segments
    /// also has the route of forward authentication, so that it never gets a page with status 200.
    private func forwardAuthRoute(_ rest: ArraySlice<UTF8Text>, endsInSlash: Bool) -> Route {
        let proxy = rest.first.flatMap { ForwardAuthProxy($0) }
        let count = rest.last == Self.page ? 2 : 1
        guard let proxy, proxy.sendsPath || rest.count == count && !endsInSlash else { return .forwardAuth(nil) }
        return .forwardAuth(proxy)
    }

    /// The kinds of checks of a proxy.
    package enum Check: Sendable, Hashable {
        /// The proxy decides by the status.
        case decision
        /// The request for the page of a check that was refused, because nginx discards its body.
        case page
    }

    /// Returns the kind of a check; nil if the target is not exactly the path of a check, which a query may follow.
    ///
    /// A proxy that sends the original path appends it to the path of its checks.
    package func check(_ target: String, of proxy: ForwardAuthProxy) -> Check? {
        let path = forwardAuthPrefix + proxy.rawValue
        guard target.utf8.starts(with: path.utf8) else { return nil }
        if proxy.sendsPath { return .decision }
        let rest = target.utf8.dropFirst(path.utf8.count).prefix { $0 != UInt8(ascii: "?") }
        if rest.isEmpty { return .decision }
        return rest.elementsEqual("/\(Self.page.string)".utf8) ? .page : nil
    }

    /// Returns the route of a target whose path is ambiguous, if it is a check of Envoy, which appends the original
    /// path.
    package func route(atAmbiguous target: String) -> Route? {
        let beginning = "\(forwardAuthPrefix)\(ForwardAuthProxy.envoy.rawValue)/"
        return target.utf8.starts(with: beginning.utf8) ? .forwardAuth(.envoy) : nil
    }

    /// Returns the first segment after the prefix and the segments after it.
    private func split(_ path: RequestPath) -> (first: UTF8Text, rest: ArraySlice<UTF8Text>)? {
        let count = prefixSegments.count
        guard path.segments.count > count, path.segments.starts(with: prefixSegments) else { return nil }
        return (path.segments[count], path.segments[(count + 1)...])
    }

    /// Returns whether a path without a route looks like a forward authentication request with a wrong prefix.
    ///
    /// If a rule allows it, the proxy would treat the status 200 of the page as permission for the original request.
    package func isMisplacedForwardAuth(_ path: RequestPath) -> Bool {
        zip(path.segments, path.segments.dropFirst()).contains {
            $0 == Self.forwardAuth && ForwardAuthProxy($1) != nil
        }
    }

    /// Returns whether a browser can be redirected to a path after the sign-in: not to the sign-in pages, which would
    /// cause a loop, nor to forward authentication and the session API, which are not pages.
    package func canReturn(to path: RequestPath) -> Bool {
        guard let (first, _) = split(path) else { return true }
        return ![Self.forwardAuth, "sign-in", "enter", "sign-out", "session", "sessions"].contains(first)
    }

    private static let forwardAuth: UTF8Text = "auth"
    private static let page: UTF8Text = "page"
    private static let realms: UTF8Text = "realms"
}

/// A file that is the same for all clients: a style sheet, a script, an image or the keys of identity tokens.
package enum PageAsset: String, Sendable, Hashable, CaseIterable {
    case style = "style.css"
    /// The script that receives session events.
    case script = "session.js"
    /// The logo of the brand.
    case logo
    /// The public keys of identity tokens.
    case identityKeys = "jwks.json"

    package var isForSignIn: Bool { self == .script }
}

/// A route: one entry of the table ``Routes``.
package enum Route: Sendable, Hashable {
    case signIn
    case step
    /// The end of a hand-over: the host gets its session from the sign-in host.
    case enter
    case signOut
    case account
    case accountEnd
    case asset(PageAsset)
    case session
    case sessionRefresh
    case sessionEvents
    case sessions
    /// The session with an id, which is not parsed yet.
    case oneSession(UTF8Text)
    /// The list of realms of the realm API.
    case realms
    /// The check of credentials in a realm, which need not exist.
    case realmCheck(UTF8Text)
    /// Forward authentication; nil if the proxy is not known.
    case forwardAuth(ForwardAuthProxy?)

    /// True if the route is for users and their programs; false if it is for proxies.
    package var isPage: Bool { if case .forwardAuth = self { false } else { true } }

    /// The methods that the route accepts.
    package var methods: [String] {
        switch self {
        case .signIn, .step, .signOut: ["GET", "HEAD", "POST"]
        // A response to HEAD would use up the code.
        case .enter: ["GET"]
        case .accountEnd, .sessionRefresh, .realmCheck: ["POST"]
        case .account, .sessionEvents, .sessions, .realms, .asset, .forwardAuth: ["GET", "HEAD"]
        case .session: ["GET", "HEAD", "POST", "DELETE"]
        case .oneSession: ["DELETE"]
        }
    }
}

/// The proxies that can send forward authentication requests; each describes the original request in its own way.
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

    package init?(_ name: UTF8Text) {
        guard let proxy = Self.allCases.first(where: { UTF8Text($0.rawValue) == name }) else { return nil }
        self = proxy
    }

    /// True if the proxy appends the path of the original request to the path of its own request.
    package var sendsPath: Bool { self == .envoy }
}
