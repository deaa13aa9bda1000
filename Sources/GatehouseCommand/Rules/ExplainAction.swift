// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Gatehouse
internal import Glibc
internal import LentServices
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO

extension GatehouseOptions.Explain: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let log = RealmLog.once { GatehouseCommand.print(Printable.text($0), on: STDERR_FILENO) }
        let services = ProgramServices(.look, log: log)
        let configuration = try GatehouseCommand.load(options.configuration, kinds, services)
        if let from, !Explanation.Question.isAddress(from) {
            throw ActionFault(.usage, "--from takes an address such as 192.0.2.1 or 2001:db8::1, not \(from)")
        }
        let hasForm = configuration.rules.contains { $0.schemes.contains(.form) }
        let pages = hasForm ? configuration.server.signIn.prefix : nil
        let question = Explanation.Question(method: method, url: url, user: try user(of: configuration), peer: from)
        let explanation = ProtectionRules(configuration.rules).explain(question, pages: pages)
        GatehouseCommand.print(Printable.text(explanation.text), on: STDOUT_FILENO)
        // All there is to say has been said.
        if !explanation.isAllowed { throw ActionFault(.failed, "") }
    }

    /// The user that is meant, with the groups the realm adds.
    private func user(of configuration: Configuration) throws(ActionFault) -> SignedInUser? {
        guard let user else {
            guard options.realm == nil else { throw ActionFault(.usage, "--realm needs --user") }
            return nil
        }
        let realm = try configuration.realm(options.realm)
        var names = groups?.split(separator: ",").map(String.init) ?? []
        for group in realm.assignedGroups where !names.contains(group) { names.append(group) }
        for group in realm.groupMapping.following(from: names) where !names.contains(group) { names.append(group) }
        do throws(BadUsername) {
            return SignedInUser(realm: realm.name, username: try Username(user), groups: names)
        } catch {
            throw ActionFault(.usage, "--user: \(error)")
        }
    }
}
