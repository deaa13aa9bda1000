// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import RealmConfiguration
public import RealmKit

/// The decision about a hypothetical request and the reason for it.
///
/// The rules are evaluated in the same way as for a real request.
public struct Explanation: Sendable, Hashable {
    /// A hypothetical request.
    public struct Request: Sendable {
        /// The method.
        public let method: String
        /// A URL of http or https, or a path.
        ///
        /// A path has no host.
        public let url: String
        /// The signed-in user of the request; nil if there is none.
        public let user: SignedInUser?
        /// The address that the request comes from; nil if it is not known.
        public let peer: String?
        /// The reason why the realm lets the user not sign in, such as `the account is disabled`; nil if the user may sign
        /// in.
        public let obstacle: String?

        /// A hypothetical request.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - url: A URL of http or https, or a path.
        ///   - user: The signed-in user of the request; nil if there is none.
        ///   - peer: The address that the request comes from; nil if it is not known.
        ///   - obstacle: The reason why the realm lets the user not sign in; nil if the user may sign in.
        public init(
            method: String,
            url: String,
            user: SignedInUser? = nil,
            peer: String? = nil,
            obstacle: String? = nil
        ) {
            self.method = method
            self.url = url
            self.user = user
            self.peer = peer
            self.obstacle = obstacle
        }

        /// Returns whether a text is a valid client address.
        ///
        /// - Parameter text: The text.
        /// - Returns: True if the text is an IPv4 or IPv6 address without a port.
        public static func isAddress(_ text: String) -> Bool { NetworkAddress(text[...]) != nil }
    }

    /// The status of the response: 200, 400, 401, 403 or 405.
    public let status: Int
    /// The status and the reason, and a line for each rule in the order of evaluation.
    public let lines: [String]

    /// True if the server would allow the request.
    public var isAllowed: Bool { status == 200 }
    /// All lines as one text.
    public var text: String { lines.joined(separator: "\n") }
}

extension ProtectionRules {
    /// Returns the decision about a hypothetical request and the reason for it.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - pages: The prefix of the sign-in pages; nil if there are no sign-in pages. No rule applies to these pages.
    ///   - realmAPI: The prefix of the realm API; nil if it is disabled. No rule applies to the realm API.
    ///   - isBehindProxy: True if a proxy asks about requests. Then a request for a host that no rule is for is denied.
    /// - Returns: The decision, with a line for each rule.
    public func explain(
        _ request: Explanation.Request,
        pages: String? = nil,
        realmAPI: String? = nil,
        isBehindProxy: Bool = true
    ) -> Explanation {
        let target: (host: RequestHost?, path: RequestPath)
        switch read(request.url) {
        case .failure(let ambiguity): return Explanation(status: 400, lines: ["400: \(ambiguity)"])
        case .success(let read): target = read
        }
        if let pages, let route = Routes(prefix: pages).route(at: target.path) {
            guard route.isPage else {
                let line = "403: only trusted proxies may send forward authentication requests"
                return Explanation(status: 403, lines: [line])
            }
            let line = "200: the path belongs to the sign-in pages or the session API, to which no rule applies"
            return Explanation(status: 200, lines: [line])
        }
        if let realmAPI {
            switch Routes(prefix: realmAPI, hasRealmAPI: true).route(at: target.path) {
            case .realms, .realmCheck:
                let line = "401: the path belongs to the realm API, to which no rule applies and which needs a token"
                return Explanation(status: 401, lines: [line])
            case nil, .signIn, .step, .enter, .signOut, .account, .accountEnd, .asset, .session,
                .sessionRefresh, .sessionEvents, .sessions, .oneSession, .forwardAuth:
                break
            }
        }
        let match = match(host: target.host, path: target.path, method: request.method)
        let (status, reason) = Self.answer(match, request, isForwarded: isBehindProxy && target.host != nil)
        var lines = ["\(status): \(reason)"]
        if target.host == nil, hosts.contains(where: { $0.host != .any }) {
            lines.append("the URL has no host, so rules for hosts are skipped")
        }
        for rules in hosts {
            for pathRules in rules.paths {
                for compiled in pathRules.rules {
                    let reason = Self.reason(
                        compiled,
                        match,
                        rules.matches(target.host),
                        pathRules.matches(target.path),
                        request.method
                    )
                    let methods = compiled.rule.methods.map { " \($0)" }.joined()
                    let name = [compiled.rule.place, "protect", compiled.rule.target + methods].filter { !$0.isEmpty }
                    lines.append("  \(name.joined(separator: " ")): \(reason)")
                }
            }
        }
        return Explanation(status: status, lines: lines)
    }

    private func read(_ url: String) -> Result<(host: RequestHost?, path: RequestPath), Explanation.Ambiguity> {
        let parts = RequestURL(url)
        let host = parts.flatMap { RequestHost($0.authority) }
        if let parts, host == nil {
            return .failure(Explanation.Ambiguity("\(parts.authority) is neither the name nor the address of a host"))
        }
        do throws(AmbiguousPath) {
            return .success((host, try RequestPath(reading: (parts?.target ?? url).utf8Span.span)))
        } catch {
            return .failure(Explanation.Ambiguity("the path is ambiguous: \(error)"))
        }
    }

    private static func answer(
        _ match: Match,
        _ request: Explanation.Request,
        isForwarded: Bool
    ) -> (Int, String) {
        switch match {
        case .none where isForwarded: (403, "no rule matches, so forward authentication denies the request")
        case .none: (200, "no rule matches, so the server allows the request")
        case .ambiguousHost: (400, "the host is neither a name nor an address")
        case .uncovered(let allowed, _):
            (405, "the rules for the path apply to \(allowed.joined(separator: ", ")), not to \(request.method)")
        case .rule(let compiled): answer(compiled.rule, request)
        }
    }

    private static func answer(_ rule: ProtectRule, _ request: Explanation.Request) -> (Int, String) {
        guard rule.matches(peer: request.peer) else {
            let networks = rule.networks.map(\.description).joined(separator: ", ")
            let reason =
                request.peer.map { "\($0) is in none of \(networks)" } ?? "the client's address must be in \(networks)"
            return (403, reason)
        }
        switch rule.access {
        case .open: return (200, "the rule allows all requests")
        case .nobody: return (403, "the rule denies all requests")
        case .users: break
        }
        let realms = rule.realms.joined(separator: " or ")
        guard let user = request.user else {
            if rule.schemes == [.certificate] {
                return (403, "no user is signed in; the rule accepts only client certificates for realm \(realms)")
            }
            let schemes = rule.schemes.map(\.rawValue).joined(separator: ", then ")
            let stops = rule.whenUnavailable == .stop && rule.realms.count > 1
            let limit = stops ? "; if one of them is unavailable, no later one is used (503)" : ""
            return (401, "no user is signed in; the rule offers \(schemes) for realm \(realms)\(limit)")
        }
        let name = "\(user.username) of realm \(user.realm)"
        guard rule.realms.contains(where: { $0.utf8.elementsEqual(user.realm.utf8) }) else {
            return (401, "\(name) is not a user of realm \(realms), and has to sign in there")
        }
        if let obstacle = request.obstacle {
            // There is no challenge for certificates.
            return (rule.schemes == [.certificate] ? 403 : 401, "\(name) cannot sign in: \(obstacle)")
        }
        if rule.allows(user) { return (200, "\(name) is allowed") }
        let required = rule.requirements.map(\.explanation).joined(separator: ", or ")
        let groups = user.groups.isEmpty ? "no group" : GroupName.list(user.groups)
        return (403, "\(name), in \(groups), does not meet: \(required)")
    }

    /// Returns the reason why a rule decides about a request or why it does not decide.
    private static func reason(
        _ compiled: CompiledRule,
        _ match: Match,
        _ isHost: Bool,
        _ isPath: Bool,
        _ method: String
    ) -> String {
        if case .rule(let deciding) = match, deciding === compiled { return "decides" }
        guard isHost else { return "applies to another host" }
        guard isPath else { return "applies to another path" }
        guard compiled.rule.matches(method: method) else { return "applies to other methods" }
        return "matches too, but another rule is more specific"
    }
}

extension Explanation {
    /// The reason why no decision about a URL is possible.
    fileprivate struct Ambiguity: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }
}

extension ProtectRule.Requirement {
    /// The requirement as in realms.conf.
    ///
    /// The text of a role includes the groups and users of the role.
    fileprivate var explanation: String {
        switch self {
        case .any, .users, .groups, .attribute: description
        case .roles(let roles): roles.map(\.explanation).joined(separator: ", or ")
        }
    }
}

extension Role {
    fileprivate var explanation: String {
        let holders = [("group", groups), ("user", users)].filter { !$1.isEmpty }
            .map { "\($0) \($1.joined(separator: " "))" }.joined(separator: ", ")
        return "role \(name) (\(holders)\(realms.isEmpty ? "" : " of realm \(realms.joined(separator: " "))"))"
    }
}
