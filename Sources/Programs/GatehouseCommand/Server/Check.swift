// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import ConfiguredTLS
internal import Files
internal import Glibc
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit
internal import Store

extension GatehouseOptions {
    struct Check: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "check",
            abstract: "Check the configuration: print its errors, or a summary of it."
        )

        @OptionGroup var options: ConfigurationOptions
        @Flag(
            help: """
                Also test the servers of the realms, as `gatehouse realm test` does, and look the groups of the rules up \
                there; exit status 4 if a server fails.
                """
        )
        var connect = false

        func perform(_ kinds: [RealmKind]) async throws {
            let services = GatehouseCommand.services(.checkOnly, log: GatehouseCommand.realmLog)
            let configuration = try options.load(kinds, services: services)
            configuration.warnings.forEach(GatehouseCommand.warn)
            let (tls, tlsWarnings) = try ServerTLS.check(configuration.server, files: .system, clock: .system)
            let storeWarning = try await Self.checkStore(of: configuration)
            try Self.checkStateFolder(of: configuration)
            let expiring = ExpiringCertificates(configuration, files: .system).warnings(at: .system)
            let others = tlsWarnings + [storeWarning, configuration.emptinessWarning].compactMap(\.self)
            (expiring + others).forEach(GatehouseCommand.warn)
            GatehouseCommand.print(ConfigurationSummary.text(configuration, tls: tls))
            if connect { try await RealmTest.runAll(configuration) }
            for warning in await UnknownGroups.warnings(configuration, connects: connect) {
                GatehouseCommand.warn(warning)
            }
        }

        /// Checks that an existing store can be opened and is not damaged, even if no realm uses it, because the server keeps
        /// locks and sessions in it; returns a warning about a store that the next start upgrades.
        private static func checkStore(
            of configuration: Configuration
        ) async throws(ConfigurationErrors) -> Diagnostic? {
            guard let store = configuration.services[LazyStore.self] else { return nil }
            let folder = configuration.server.stateFolder
            let damage: String?
            do throws(StoreFault) {
                damage = try await store.present()?.damage()
            } catch {
                throw folder.errors(error.description)
            }
            if let damage {
                let hint = "stop the server, and restore the store from a backup"
                throw folder.errors("the store in \(store.folder) is damaged: \(damage)", hint: hint)
            }
            guard store.isOfOlderVersion else { return nil }
            return folder.warning(
                "the store in \(store.folder) is of an older version; the next start of gatehouse serve upgrades it",
                hint: "older versions of gatehouse cannot open it after that; make a backup first"
            )
        }

        /// Checks that a missing state folder can be created; nothing is created.
        ///
        /// The user of this command may have fewer rights than that of the server: missing rights are only a warning.
        private static func checkStateFolder(of configuration: Configuration) throws(ConfigurationErrors) {
            let folder = configuration.server.stateFolder
            switch StateFolder.creationFault(of: folder.value) {
            case nil:
                // The server of this user would refuse it, with these words.
                guard let reason = StateFolder.ownerFault(of: folder.value) else { break }
                GatehouseCommand.warn(folder.warning("the state folder cannot be used: \(reason)"))
            case .impossible(let reason):
                throw folder.errors("the state folder \(folder.value) cannot be created: \(reason)")
            case .notPermitted(let reason):
                GatehouseCommand.warn(
                    folder.warning(
                        "this user cannot create the state folder \(folder.value): \(reason)",
                        hint: "the server must run as a user who can, or the folder must exist and belong to that user"
                    )
                )
            }
        }
    }
}

extension Configuration {
    /// A warning about a configuration without a rule, which only the server needs; nil if there is a rule, or a realm API
    /// that checks logins.
    var emptinessWarning: Diagnostic? {
        guard rules.isEmpty, server.realmAPI == nil || realms.isEmpty else { return nil }
        let text = SourceText(name: file, bytes: [])
        guard let realm = realms.first else {
            let hint = "gatehouse init --folder FOLDER makes a configuration that serves at once"
            return text.warning(at: .none, "there is no realm and no protect block: nothing is protected", hint: hint)
        }
        let hint = "as in: protect /welcome { realm \(realm.name); require any; }"
        return text.warning(at: .none, "there is no protect block: nothing is protected", hint: hint)
    }
}

/// The groups of rules and roles that do not exist.
enum UnknownGroups {
    /// Returns a warning for each group that no user of its realms can be in; none if a realm cannot look groups up, has none
    /// yet, or asks another system and `connects` is false.
    static func warnings(_ configuration: Configuration, connects: Bool) async -> [Diagnostic] {
        var known: [String: [String]] = [:]
        for realm in configuration.realms where connects || !type(of: realm.realm).dependsOnOtherSystems {
            known[realm.name] = await existing(configuration.requiredGroups, in: realm)
        }
        return configuration.requiredGroups.compactMap { group in
            let (name, realms) = (group.name, group.realms)
            let found = realms.compactMap { known[$0.name] }
            guard !realms.isEmpty, found.count == realms.count,
                !realms.contains(where: { mayHave(name, in: $0, of: known[$0.name] ?? []) })
            else { return nil }
            let asksOthers = realms.contains { type(of: $0.realm).dependsOnOtherSystems }
            let spellings = realms.flatMap { (try? $0.spellings(ofGroup: name)) ?? [] } + [name]
            let nearest = spellings.lazy.compactMap { NearestName.suggest($0, among: found.flatMap(\.self)) }.first
            let other = asksOthers ? "a group that the realm may not read is not found" : "or put a user into the group"
            return group.warning(
                "no user of realm \(realms.map(\.name).joined(separator: ", ")) is in \(GroupName.list([name]))",
                hint: nearest.map { "did you mean \(GroupName.list([$0]))?" } ?? "correct the name; \(other)"
            )
        }
    }

    /// The groups that exist in a realm; nil if they are not known.
    private static func existing(
        _ groups: [Located<Configuration.RequiredGroup>],
        in bound: BoundRealm
    ) async -> [String]? {
        let own = groups.filter { group in group.realms.contains { $0.name.hasBytes(of: bound.name) } }
        let names = own.map { $0.name }
        guard !names.isEmpty, bound.knowsAllGroups, let realm = bound.realm as? any GroupLookupRealm else { return nil }
        let spelled = names.flatMap { (try? bound.spellings(ofGroup: $0)) ?? [] }
        guard let found = try? await realm.existingGroups(spelled) else { return nil }
        // The users of a new store come later.
        return found.isEmpty && !type(of: realm).dependsOnOtherSystems ? nil : found
    }

    /// Returns whether users of a realm can be in a group; true for a name that loading has warned about.
    private static func mayHave(_ name: String, in realm: BoundRealm, of existing: [String]) -> Bool {
        guard let spellings = try? realm.spellings(ofGroup: name) else { return true }
        return realm.configures(group: name)
            || spellings.contains { spelling in existing.contains { $0.hasBytes(of: spelling) } }
    }
}
