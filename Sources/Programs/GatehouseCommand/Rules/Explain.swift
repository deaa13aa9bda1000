// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit
internal import Store

extension GatehouseOptions {
    /// `gatehouse explain`: the decision about a request, and the reason for it.
    struct Explain: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show whether a request would be allowed, and which rule decides.",
            discussion: """
                No password is needed. The user of --user is taken as signed in. \
                Exit status: 0 the request would be allowed, even if a lock refuses a new sign-in, \
                1 it would be denied, 2 wrong arguments.
                """
        )

        @OptionGroup var options: RealmOptions
        @Argument(help: "The method, such as GET.", completion: .list(Self.methods)) var method: String
        @Argument(help: ArgumentHelp("A URL with http or https, or only a path.", valueName: "url")) var url: String
        @Option(help: ArgumentHelp("The user who makes the request. Default: not signed in.", valueName: "name"))
        var user: String?
        @Option(
            help: ArgumentHelp(
                "The groups of the user; the realm may add groups. Default: the groups that the realm returns.",
                valueName: "a,b"
            )
        )
        var groups: String?
        @Option(help: ArgumentHelp("The address of the client.", valueName: "address")) var from: String?

        static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

        func validate() throws {
            guard url != "*" else {
                throw ValidationError("* is the target of OPTIONS for the whole server, and no rule is for it")
            }
            guard url.hasPrefix("/") || RequestURL(url) != nil else {
                throw ValidationError("\(url) is not a URL: write a path such as /welcome, or https://HOST/PATH")
            }
            let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
            guard isToken, !method.isEmpty else {
                throw ValidationError("\(method) is not a method: methods are in capital letters, such as GET")
            }
            guard user != nil || groups == nil else { throw ValidationError("--groups needs --user") }
        }

        func perform(_ kinds: [RealmKind]) async throws {
            let configuration = try options.load(kinds, access: .existingOnly)
            if let from, !Explanation.Request.isAddress(from) {
                throw CommandError(.usage, "--from takes an address such as 192.0.2.1 or 2001:db8::1, not \(from)")
            }
            let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
            let pages = hasForm ? configuration.server.signIn.prefix : nil
            let realmAPI = configuration.server.realmAPI == nil ? nil : configuration.server.signIn.prefix
            if let meant = NearestName.suggest(method, among: Self.methods), meant != method {
                let note = "warning: \(method) is not a known method; did you mean \(meant)?"
                GatehouseCommand.print(Printable.line(note), on: STDERR_FILENO)
            }
            let (user, found) = try await user(of: configuration)
            let request = Explanation.Request(
                method: method,
                url: url,
                user: user,
                peer: from,
                obstacle: found?.obstacle,
                lock: found?.lock?.text
            )
            let rules = ProtectionRules(configuration.rules, preflightHosts: configuration.server.preflightHosts)
            let explanation = rules.explain(
                request,
                pages: pages,
                realmAPI: realmAPI,
                isBehindProxy: !configuration.server.trustedProxies.isEmpty
            )
            let lines = (explanation.lines + (found?.notes ?? [])).map(Printable.line)
            GatehouseCommand.print(lines.joined(separator: "\n"))
            // The error has no message, because the explanation has already been printed.
            if !explanation.isAllowed { throw CommandError(.failed, "") }
        }

        /// The user of the request with all groups, and what was found about the user: nothing with `--groups`.
        private func user(
            of configuration: Configuration
        ) async throws -> (user: SignedInUser?, found: UserLookup?) {
            guard let user else {
                guard options.realm == nil else { throw CommandError(.usage, "--realm needs --user") }
                return (nil, nil)
            }
            let realm = try configuration.realm(options.realm)
            var username = try Username(argument: user)
            var found: UserLookup?
            var names: [String]
            if let groups {
                names = groups.split(separator: ",").map(String.init)
            } else {
                let lookup = await UserLookup(
                    username,
                    in: realm,
                    store: configuration.services[LazyStore.self],
                    now: WallClock.system.seconds
                )
                names = lookup.groups
                username = lookup.name
                found = lookup
            }
            for group in realm.assignedGroups where !names.contains(group) { names.append(group) }
            for group in realm.groupMapping.derivedGroups(from: names) where !names.contains(group) {
                names.append(group)
            }
            let attributes = found?.attributes ?? []
            return (SignedInUser(realm: realm.name, username: username, groups: names, attributes: attributes), found)
        }
    }
}
