// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import Bytes
internal import RealmConfiguration

/// The paths of the pages, the session API and forward authentication: the one table of them.
package struct Routes: Sendable, Hashable {
    /// The beginning of all paths: empty, or as in `/gatehouse`.
    package let prefix: String
    private let prefixSegments: [UTF8Text]

    /// The routes below a prefix.
    ///
    /// - Parameter prefix: Empty, or as in `/gatehouse`.
    package init(prefix: String) {
        self.prefix = prefix
        prefixSegments = prefix.split(separator: "/").map { UTF8Text(String($0)) }
    }

    package var signIn: String { path(.signIn) }
    package var step: String { path(.signIn) + "/step" }
    package var signOut: String { path(.signOut) }
    package var account: String { path(.account) }
    package var accountEnd: String { path(.account) + "/end" }
    package var style: String { path(.style) }
    package var script: String { path(.script) }

    private func path(_ segment: SignInSettings.Segment) -> String { "\(prefix)/\(segment.rawValue)" }

    /// Returns the route of a path; nil for a path that is not ours.
    ///
    /// - Parameter path: The path of a request.
    /// - Returns: The route of a path; nil for a path that is not ours.
    package func route(at path: RequestPath) -> Route? {
        guard let (first, rest) = split(path) else { return nil }
        if first == Self.forwardAuth { return forwardAuthRoute(rest, endsInSlash: path.endsInSlash) }
        guard !path.endsInSlash, let segment = Self.segments[first] else { return nil }
        switch (segment, rest.count) {
        case (.signIn, 0): return .signIn
        case (.signIn, 1) where rest.first == "step": return .step
        case (.signOut, 0): return .signOut
        case (.account, 0): return .account
        case (.account, 1) where rest.first == "end": return .accountEnd
        case (.style, 0): return .style
        case (.script, 0): return .script
        case (.session, 0): return .session
        case (.session, 1) where rest.first == "refresh": return .sessionRefresh
        case (.session, 1) where rest.first == "events": return .sessionEvents
        case (.sessions, 0): return .sessions
        case (.sessions, 1): return rest.first.map { .oneSession($0) }
        default: return nil
        }
    }

    /// Returns the route of a path below `auth`, which is always for proxies.
    ///
    /// A malformed forward authentication request must not get a page with status 200.
    private func forwardAuthRoute(_ rest: ArraySlice<UTF8Text>, endsInSlash: Bool) -> Route {
        let proxy = rest.first.flatMap { ForwardAuthProxy($0) }
        guard let proxy, proxy.sendsPath || rest.count == 1 && !endsInSlash else { return .forwardAuth(nil) }
        return .forwardAuth(proxy)
    }

    /// The first segment after the prefix, and those after it.
    private func split(_ path: RequestPath) -> (first: UTF8Text, rest: ArraySlice<UTF8Text>)? {
        let count = prefixSegments.count
        guard path.segments.count > count, path.segments.starts(with: prefixSegments) else { return nil }
        return (path.segments[count], path.segments[(count + 1)...])
    }

    /// Returns whether the path is a forward authentication request of a proxy that uses another prefix.
    ///
    /// The path has no route, but a rule may match it. The proxy would then take the page for permission of the
    /// original request.
    ///
    /// - Parameter path: A path without a route.
    /// - Returns: True if the path is a forward authentication request of a proxy that uses another prefix.
    package func isMisplacedForwardAuth(_ path: RequestPath) -> Bool {
        zip(path.segments, path.segments.dropFirst()).contains {
            $0 == Self.forwardAuth && ForwardAuthProxy($1) != nil
        }
    }

    /// Returns whether the user can be redirected to a path after the sign-in.
    ///
    /// The pages of the sign-in are excluded, as they would cause a loop. Forward authentication and the session API
    /// are excluded too.
    ///
    /// - Parameter path: The path.
    /// - Returns: True if the user can be redirected to a path after the sign-in.
    package func canReturn(to path: RequestPath) -> Bool {
        guard let (first, _) = split(path) else { return true }
        if first == Self.forwardAuth { return false }
        switch Self.segments[first] {
        case .signIn, .signOut, .session, .sessions: return false
        case nil, .account, .style, .script: return true
        }
    }

    private static let forwardAuth: UTF8Text = "auth"
    private static let segments = Dictionary(
        uniqueKeysWithValues: SignInSettings.Segment.allCases.map { (UTF8Text($0.rawValue), $0) }
    )
}

/// One of the paths of ``Routes``.
package enum Route: Sendable, Hashable {
    case signIn
    case step
    case signOut
    case account
    case accountEnd
    case style
    case script
    case session
    case sessionRefresh
    case sessionEvents
    case sessions
    /// One session, by the text of its id.
    case oneSession(UTF8Text)
    /// Forward authentication; nil for a proxy that is not known.
    case forwardAuth(ForwardAuthProxy?)

    /// True for routes of users and their programs, false for those of proxies.
    package var isPage: Bool { if case .forwardAuth = self { false } else { true } }

    /// The methods that the route accepts.
    package var methods: [String] {
        switch self {
        case .signIn, .step: ["GET", "HEAD", "POST"]
        case .signOut, .accountEnd, .sessionRefresh: ["POST"]
        case .account, .sessionEvents, .sessions, .style, .script, .forwardAuth: ["GET", "HEAD"]
        case .session: ["GET", "HEAD", "POST", "DELETE"]
        case .oneSession: ["DELETE"]
        }
    }
}
