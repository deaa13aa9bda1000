// SPDX-License-Identifier: Apache-2.0

public import RealmKit

/// The decision about a hypothetical request and the reason for it, by the same evaluation as for a real request.
public struct Explanation: Sendable, Hashable {
    /// A hypothetical request.
    public struct Request: Sendable {
        /// The method.
        public let method: String
        /// A URL of http or https, or a path, which has no host.
        public let url: String
        /// The signed-in user of the request; nil if there is none.
        public let user: SignedInUser?
        /// The address that the request comes from; nil if it is not known.
        public let peer: String?
        /// The reason why the realm lets the user not sign in, such as `the account is disabled`; nil if the user may
        /// sign in.
        public let obstacle: String?
        /// The end and the reason of the lock of the user's account, such as `until 2027-01-31T10:00:00Z (10 failed
        /// logins)`; nil if not locked.
        ///
        /// A lock refuses new sign-ins, and ends no session.
        public let lock: String?

        /// Creates a hypothetical request.
        public init(
            method: String,
            url: String,
            user: SignedInUser? = nil,
            peer: String? = nil,
            obstacle: String? = nil,
            lock: String? = nil
        ) {
            self.method = method
            self.url = url
            self.user = user
            self.peer = peer
            self.obstacle = obstacle
            self.lock = lock
        }

        /// Returns whether a text is an IPv4 or IPv6 address without a port.
        public static func isAddress(_ text: String) -> Bool { NetworkAddress(text[...]) != nil }
    }

    /// The status of the response: 200, 400, 401, 403 or 405.
    public let status: Int
    /// The status and the reason, a line for each rule of the host in the order of evaluation, and the number of rules
    /// of other hosts.
    public let lines: [String]

    /// True if the server would allow the request.
    public var isAllowed: Bool { status == 200 }
    /// All lines as one text.
    public var text: String { lines.joined(separator: "\n") }
}

extension ProtectionRules {
    /// Returns the decision about a hypothetical request and the reason for it.
    ///
    /// No rule applies to the sign-in pages below the prefix `pages`, and to the realm API below `realmAPI`, each nil if it does
    /// not exist. If a proxy asks about requests, a request for a host that no rule is for is denied.
    public func explain(
        _ request: Explanation.Request,
        pages: String? = nil,
        realmAPI: String? = nil,
        isBehindProxy: Bool = true
    ) -> Explanation {
        let target: (host: RequestHost?, path: PathReadings)
        switch read(request.url, isBehindProxy: isBehindProxy) {
        case .failure(let ambiguity): return Explanation(400, ambiguity.reason)
        case .success(let read): target = read
        }
        let path = target.path.path
        if let pages, let route = Routes(prefix: pages).route(at: path) {
            guard route.isPage else {
                return Explanation(403, "only trusted proxies may send forward authentication requests")
            }
            return Explanation(
                200,
                "the path belongs to the sign-in pages or the session API, to which no rule applies"
            )
        }
        if let realmAPI {
            switch Routes(prefix: realmAPI, hasRealmAPI: true).route(at: path) {
            case .realms, .realmCheck:
                let reason = "the path belongs to the realm API, to which no rule applies and which needs a token"
                return Explanation(401, reason)
            default: break
            }
        }
        let match = match(host: target.host, path: target.path, method: request.method)
        let (status, reason) = Self.answer(match, request, isForwarded: isBehindProxy && target.host != nil)
        var lines: [String] = []
        if target.host == nil, hosts.contains(where: { $0.host != .any }) {
            lines.append("the URL has no host, so rules for hosts are skipped")
        }
        if target.path.ambiguity != nil { lines.append(Self.readingsExplanation(match)) }
        if request.method == "OPTIONS", allowsPreflights(of: target.host) {
            lines.append(preflightExplanation(host: target.host, path: target.path, from: request.peer))
        }
        var reached: [CompiledRule] = []
        if case .ambiguousPath = match {
            for reading in [path] + target.path.others {
                guard case .rule(let compiled) = self.match(host: target.host, path: reading, method: request.method)
                else { continue }
                reached.append(compiled)
            }
        }
        for pathRules in hosts.filter({ $0.matches(target.host) }).flatMap(\.paths) {
            for compiled in pathRules.rules {
                let isReached = reached.contains { $0 === compiled }
                let effect = Self.effect(of: compiled, match, isPath: pathRules.matches(path), method: request.method)
                let methods = compiled.rule.methods.map { " \($0)" }.joined()
                let name = [compiled.rule.place, "protect", compiled.rule.target + methods].filter { !$0.isEmpty }
                lines.append(
                    "  \(name.joined(separator: " ")): \(isReached ? "a reading of the path leads here" : effect)"
                )
            }
        }
        let others = hosts.filter { !$0.matches(target.host) }.flatMap(\.paths).reduce(0) { $0 + $1.rules.count }
        if others > 0 {
            lines.append(others == 1 ? "  1 rule applies to another host" : "  \(others) rules apply to other hosts")
        }
        return Explanation(status, reason, lines)
    }

    private static func readingsExplanation(_ match: Match) -> String {
        if case .rule = match {
            return "programs may read the path differently; all readings lead to the rule that decides"
        }
        return "a rule decides about such a path only if it has ambiguous-paths allow and all readings lead to it"
    }

    private func preflightExplanation(host: RequestHost?, path: PathReadings, from peer: String?) -> String {
        let preflight = "a CORS preflight (OPTIONS with Origin and Access-Control-Request-Method)"
        let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"].filter {
            ruleAllowingPreflight(for: $0, host: host, path: path, from: peer) != nil
        }
        if methods.isEmpty { return "\(preflight) is decided about in the same way" }
        return "\(preflight) is allowed without a login for \(methods.joined(separator: ", "))"
    }

    private func read(
        _ url: String,
        isBehindProxy: Bool
    ) -> Result<(host: RequestHost?, path: PathReadings), Explanation.Ambiguity> {
        let parts = RequestURL(url)
        let host = parts.flatMap { RequestHost($0.authority) }
        if let parts, host == nil {
            let reason = "\(parts.authority) is neither the name nor the address of a host"
            return .failure(Explanation.Ambiguity(reason: reason))
        }
        do throws(AmbiguousPath) {
            let target = (parts?.target ?? url).utf8Span.span
            // Only a proxy may ask about an ambiguous path.
            guard isBehindProxy, host != nil else {
                return .success((host, PathReadings(try RequestPath(reading: target))))
            }
            return .success((host, try PathReadings(reading: target)))
        } catch {
            return .failure(Explanation.Ambiguity(reason: "the path is ambiguous: \(error)"))
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
        case .ambiguousPath(let reason): (400, reason)
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
        let lock = request.lock.map { "; a new sign-in is refused \($0)" } ?? ""
        if rule.allows(user) { return (200, "\(name) is allowed\(lock)") }
        let required = rule.requirements.map(\.explanation).joined(separator: ", or ")
        let groups = user.groups.isEmpty ? "no group" : GroupName.list(user.groups)
        return (403, "\(name), in \(groups), does not meet: \(required)\(lock)")
    }

    private static func effect(of compiled: CompiledRule, _ match: Match, isPath: Bool, method: String) -> String {
        if case .rule(let deciding) = match, deciding === compiled { return "decides" }
        guard isPath else { return "applies to another path" }
        guard compiled.rule.matches(method: method) else { return "applies to other methods" }
        return "matches too, but another rule is more specific"
    }
}

extension Explanation {
    /// The reason why no decision about a URL is possible.
    fileprivate struct Ambiguity: Error {
        let reason: String
    }

    fileprivate init(_ status: Int, _ reason: String, _ lines: [String] = []) {
        self.init(status: status, lines: ["\(status): \(reason)"] + lines)
    }
}

extension ProtectRule {
    /// Returns the requirements of which the user has to meet one, and the groups of the user, both of bounded length
    /// for a line of the log.
    package func shortfall(of user: SignedInUser) -> (needs: String, has: String) {
        (
            Self.bounded(requirements.map(\.explanation), separator: ", or "),
            Self.bounded(user.groups.map { GroupName.list([$0]) }, separator: ", ")
        )
    }

    /// Joins the first texts, and the number of the others if they do not fit into 400 bytes.
    private static func bounded(_ texts: [String], separator: String) -> String {
        var length = 0
        let first = texts.prefix { text in
            length += text.utf8.count + separator.utf8.count
            return length <= 400
        }
        let others = texts.count - first.count
        return (first + (others > 0 ? ["\(others) more"] : [])).joined(separator: separator)
    }
}

extension ProtectRule.Requirement {
    /// The requirement as in realms.conf; that of a role with its groups and users.
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
