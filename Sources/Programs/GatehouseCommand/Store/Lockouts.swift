// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

extension GatehouseOptions {
    /// `gatehouse lockouts`: locked accounts and addresses.
    struct Lockouts: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "lockouts",
            abstract: "List and clear locks of accounts and addresses.",
            discussion: "A running server applies changes within a second.",
            subcommands: [List.self, Clear.self]
        )

        struct List: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List locked accounts and addresses."
            )
            @OptionGroup var options: ConfigurationOptions
            @Flag(help: "Show all accounts and addresses with failed logins, locked or not.") var all = false

            func perform(_ kinds: [RealmKind]) async throws {
                let records = try await ConfiguredStore(options, kinds: kinds, access: .existingOnly).store.load()
                    .records
                let now = WallClock.system.seconds
                let shown = records.filter { all || $0.lockout(at: now) != nil }.sorted { $0.newest > $1.newest }
                guard !shown.isEmpty else {
                    GatehouseCommand.print(all ? "there are no failed logins" : "nothing is locked")
                    return
                }
                let rows = shown.map { record in
                    let kind = if case .account = record.key { "account" } else { "address" }
                    let end = record.lockout(at: now).map { UTCTime.text($0.end) } ?? "not locked"
                    return [kind, record.key.description, "\(record.failures)", UTCTime.text(record.newest), end]
                }
                let table = Table.lines([["kind", "name", "failures", "last", "locked until"]] + rows)
                GatehouseCommand.print(table.joined(separator: "\n"))
            }
        }

        struct Clear: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "clear",
                abstract: "Clear failed logins and locks."
            )
            @OptionGroup var options: RealmOptions
            @Option(help: ArgumentHelp("An account of the realm.", valueName: "name")) var user: String?
            @Option(help: ArgumentHelp("An address.", valueName: "address")) var source: String?
            @Flag(help: "All accounts and addresses.") var all = false

            func validate() throws {
                guard [user != nil, source != nil, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("clear takes one of --user, --source and --all")
                }
            }

            func perform(_ kinds: [RealmKind]) async throws {
                let lockouts = try ConfiguredStore(options.configuration, kinds: kinds, access: .createIfMissing)
                if let user {
                    try await lockouts.clear(user: user, of: options.realm)
                } else if let source {
                    try await lockouts.check(source)
                    try await lockouts.clear(.one(.source(ClientNetwork(source))))
                    GatehouseCommand.print("\(Printable.line(source)) is not locked")
                } else {
                    try await lockouts.clear(.all)
                    GatehouseCommand.print("nothing is locked")
                }
            }
        }
    }
}

extension ConfiguredStore {
    func clear(_ scope: LockoutReset.Scope) async throws {
        try await store.clear(scope)
        try await waitForServer()
    }

    /// Checks that a text is an address, or a network under which failed logins are counted.
    fileprivate func check(_ source: String) async throws {
        do throws(BadValue) {
            _ = try CIDRBlock(source)
            // Failed logins over IPv6 are counted for networks of 64 bits. `lockouts list` shows them as networks, so
            // --source accepts such a network too.
            guard source.contains("/"), !source.hasSuffix("::/64") else { return }
        } catch {
            let key = ThrottleKey.source(ClientNetwork(source))
            guard try await !store.load().records.contains(where: { $0.key == key }) else { return }
        }
        throw CommandError(.usage, "--source takes an address such as 192.0.2.7 or 2001:db8::1, not \(source)")
    }

    /// Clears the failed logins and the lock of a user, and prints what was done; an error if the realm has no such user and
    /// there were no failed logins, because the name is probably misspelled.
    func clear(user: String, of realm: String?) async throws {
        let bound = try configuration.realm(realm)
        let name = try Username(argument: user)
        let key = ThrottleKey.account(bound.account(of: name))
        let record = try await store.load().records.first { $0.key == key }
        try await clear(.one(key))
        let isUnknown = await Self.isUnknown(name, in: bound)
        let (shown, realm) = (Printable.line(user), "realm \(bound.name)")
        guard let record else {
            guard !isUnknown else {
                let reason = "\(realm) has no user \(shown), and there were no failed logins of that name"
                throw CommandError(.failed, reason)
            }
            GatehouseCommand.print("\(shown) is not locked, and has no failed logins (\(realm))")
            return
        }
        let done = record.lockout(at: WallClock.system.seconds) == nil ? "was not locked" : "unlocked"
        let removed = "\(FailedLogins.text(record.failures)) removed"
        let note = isUnknown ? "; it has no such user" : ""
        GatehouseCommand.print("\(shown) \(done); \(removed) (\(realm)\(note))")
    }

    /// True if a realm has certainly no user of a name.
    private static func isUnknown(_ name: Username, in realm: BoundRealm) async -> Bool {
        guard let realm = realm.realm as? any UserListingRealm else { return false }
        do throws(RealmError) { return try await realm.user(name) == nil } catch { return false }
    }
}

extension Lockout {
    /// The end and the reason of the lock, such as `until 2027-01-31T10:00:00Z (10 failed logins)`.
    var text: String { "until \(UTCTime.text(end)) (\(FailedLogins.text(failures)))" }
}

enum FailedLogins {
    static func text(_ count: Int) -> String { count == 1 ? "1 failed login" : "\(count) failed logins" }
}
