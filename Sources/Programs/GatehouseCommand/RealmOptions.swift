// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit

/// The arguments that select a realm of a configuration.
struct RealmOptions: ParsableArguments {
    @OptionGroup var configuration: ConfigurationOptions
    @Option(
        help: ArgumentHelp(
            "The realm. Default: the configuration's default-realm, or its only realm.",
            valueName: "name"
        )
    )
    var realm: String?
}

extension RealmOptions {
    /// Reads the configuration; the messages of its realms go to standard error.
    func load(_ kinds: [RealmKind], access: StateAccess) throws -> Configuration {
        try GatehouseCommand.load(configuration, kinds: kinds, access: access, log: GatehouseCommand.realmLog)
    }
}

extension Configuration {
    /// Returns the realm with a name from `--realm`, the default realm of the configuration, or its only usable realm.
    func realm(
        _ name: String?,
        where isUsable: (any Realm) -> Bool = { _ in true }
    ) throws -> BoundRealm {
        let usable = realms.filter { isUsable($0.realm) }
        let candidates = (usable.isEmpty ? realms : usable).map(\.name)
        guard let name = name ?? defaultRealm ?? (candidates.count == 1 ? candidates[0] : nil) else {
            let list = candidates.isEmpty ? "" : "; realms: \(candidates.joined(separator: ", "))"
            throw CommandError(.usage, "--realm is missing, and the configuration has no default-realm\(list)")
        }
        return try authenticator.realm(name)
    }
}

extension Username {
    init(argument text: String) throws {
        // The argument parser replaces bytes that are not UTF-8 with this character. Different names would become equal.
        guard !text.unicodeScalars.contains("\u{FFFD}") else {
            throw CommandError(.usage, "the user name is not UTF-8")
        }
        do throws(BadUsername) { try self.init(text) } catch { throw CommandError(.usage, error.description) }
    }

    /// Creates the name of a user who is added, which has no colon.
    init(newUser text: String) throws {
        try self.init(argument: text)
        guard !text.utf8.contains(ASCII.colon) else {
            let reason =
                "HTTP Basic ends the user name at the first colon (RFC 7617), so the user could not sign in with it"
            throw CommandError(.usage, "the user name has a colon: \(reason)")
        }
    }
}
