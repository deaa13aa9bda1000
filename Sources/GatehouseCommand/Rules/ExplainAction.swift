// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import AccessControl
internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import HostServices
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions.Explain: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let services = GatehouseCommand.services(.existingOnly, log: GatehouseCommand.realmLog)
        let configuration = try GatehouseCommand.load(options.configuration, kinds: kinds, services: services)
        if let from, !Explanation.Request.isAddress(from) {
            throw CommandError(.usage, "--from takes an address such as 192.0.2.1 or 2001:db8::1, not \(from)")
        }
        let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
        let pages = hasForm ? configuration.server.signIn.prefix : nil
        let realmAPI = configuration.server.realmAPI == nil ? nil : configuration.server.signIn.prefix
        let (user, note) = try await user(of: configuration)
        let request = Explanation.Request(method: method, url: url, user: user, peer: from)
        let explanation = ProtectionRules(configuration.rules).explain(
            request,
            pages: pages,
            realmAPI: realmAPI
        )
        let lines = explanation.lines + (note.map { [$0] } ?? [])
        GatehouseCommand.print(Printable.text(lines.joined(separator: "\n")), on: STDOUT_FILENO)
        // The error has no message, because the explanation has already been printed.
        if !explanation.isAllowed { throw CommandError(.failed, "") }
    }

    /// The maximum time to wait for a realm to return the groups of a user.
    private static let timeLimit = Duration.seconds(5)

    /// Returns the user of the request with all groups, and a note if the realm does not return the groups.
    private func user(
        of configuration: Configuration
    ) async throws(CommandError) -> (user: SignedInUser?, note: String?) {
        guard let user else {
            guard options.realm == nil else { throw CommandError(.usage, "--realm needs --user") }
            return (nil, nil)
        }
        let realm = try configuration.realm(options.realm)
        let username: Username
        do throws(BadUsername) {
            username = try Username(user)
        } catch {
            throw CommandError(.usage, "--user: \(error)")
        }
        var names: [String]
        var note: String?
        if let groups {
            names = groups.split(separator: ",").map(String.init)
        } else {
            (names, note) = await Self.groups(of: username, in: realm)
        }
        for group in realm.assignedGroups where !names.contains(group) { names.append(group) }
        for group in realm.groupMapping.derivedGroups(from: names) where !names.contains(group) { names.append(group) }
        return (SignedInUser(realm: realm.name, username: username, groups: names), note)
    }

    /// Returns the groups of a user without a login.
    ///
    /// If the realm does not return the groups, the result has no names and a note with the reason.
    private static func groups(of user: Username, in realm: BoundRealm) async -> (names: [String], note: String?) {
        let lookup = Task { () -> Result<[String], RealmError> in
            do throws(RealmError) {
                return .success(try await realm.realm.groupNames(of: user))
            } catch {
                return .failure(error)
            }
        }
        let note = "name the groups of \(user) with --groups, because the realm has not returned them"
        switch await TimeLimitedWait.value(of: lookup, within: timeLimit, clock: SystemClock()) {
        case .success(let names): return (names, nil)
        case .failure(let error): return ([], "\(note): \(error)")
        case nil: return ([], "\(note): realm \(realm.name) did not answer within \(timeLimit)")
        }
    }
}
