// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Where the pages and the session API are.
struct Places: Sendable, Hashable {
    /// What all paths begin with: empty, or as in `/gatehouse`.
    let prefix: String
    private let before: [String]

    init(prefix: String) {
        self.prefix = prefix
        before = prefix.split(separator: "/").map(String.init)
    }

    var signIn: String { prefix + "/sign-in" }
    var step: String { prefix + "/sign-in/step" }
    var signOut: String { prefix + "/sign-out" }
    var account: String { prefix + "/account" }
    var accountEnd: String { prefix + "/account/end" }
    var style: String { prefix + "/style.css" }
    var script: String { prefix + "/session.js" }

    /// What is at a path, if it is one of these; below ``prefix`` nothing else is.
    enum Endpoint: Sendable, Hashable {
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
        case oneSession(String)
        /// What proxies ask; nil where it is none of those there are.
        case forwardAuth(ForwardAuthFlavour?)

        /// Whether it is there for people and their programs.
        var isPage: Bool { if case .forwardAuth = self { false } else { true } }
    }

    /// What is at a path.
    ///
    /// - Parameter path: The path of a request.
    /// - Returns: Nil for all paths that are not ours.
    func endpoint(at path: RequestPath) -> Endpoint? {
        guard path.segments.count > before.count else { return nil }
        for index in before.indices where !path.segments[index].utf8.elementsEqual(before[index].utf8) { return nil }
        let first = path.segments[before.count]
        let rest = path.segments[(before.count + 1)...]
        guard !path.endsInSlash || first == "auth" else { return nil }
        switch (first, rest.count) {
        // All of it is for proxies: one that asks in a wrong way must not get a page with 200 for an answer.
        case ("auth", _):
            let flavour = rest.first.flatMap { ForwardAuthFlavour(rawValue: $0) }
            guard let flavour, flavour.takesPath || rest.count == 1 && !path.endsInSlash else {
                return .forwardAuth(nil)
            }
            return .forwardAuth(flavour)
        case ("sign-in", 0): return .signIn
        case ("sign-in", 1) where rest.first == "step": return .step
        case ("sign-out", 0): return .signOut
        case ("account", 0): return .account
        case ("account", 1) where rest.first == "end": return .accountEnd
        case ("style.css", 0): return .style
        case ("session.js", 0): return .script
        case ("session", 0): return .session
        case ("session", 1) where rest.first == "refresh": return .sessionRefresh
        case ("session", 1) where rest.first == "events": return .sessionEvents
        case ("sessions", 0): return .sessions
        case ("sessions", 1): return rest.first.map { .oneSession($0) }
        default: return nil
        }
    }
}

extension Places {
    /// The sign-in page, which leads back to a target afterwards.
    ///
    /// - Parameter target: A path and query, or a whole address.
    /// - Returns: The page's path and query.
    func signIn(returningTo target: String) -> String {
        // A longer one would not be gone back to, and encoded it is longer than many proxies let pass.
        guard target.utf8.count <= ReturnTarget.maximumBytes else { return signIn }
        return "\(signIn)?return=\(PercentEncoding.encode(target))"
    }
}
