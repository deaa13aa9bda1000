// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Foundation
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO
internal import Throttle

extension GatehouseOptions {
    /// `gatehouse lockouts`: accounts and addresses that are locked.
    struct Lockouts: Group {
        static let configuration = CommandConfiguration(
            abstract: "Show and clear locks of accounts and addresses.",
            discussion: "A server that is running follows within a second.",
            subcommands: [List.self, Clear.self]
        )

        struct List: ParsableCommand {
            static let configuration = CommandConfiguration(abstract: "Show what is locked.")
            @OptionGroup var options: ConfigurationOptions
            @Flag(name: .long, help: "Show everything that has failed, locked or not.") var all = false
        }

        struct Clear: ParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Forget failed logins, and the locks they led to."
            )
            @OptionGroup var options: RealmOptions
            @Option(name: .long, help: ArgumentHelp("An account of the realm.", valueName: "name")) var user: String?
            @Option(name: .long, help: ArgumentHelp("An address.", valueName: "address")) var source: String?
            @Flag(name: .long, help: "All accounts and addresses.") var all = false

            func validate() throws {
                guard [user != nil, source != nil, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("clear takes one of --user, --source and --all")
                }
            }
        }
    }
}

/// The store, and what was asked of it.
private struct LockoutDesk {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, _ kinds: [RealmKind], _ mode: StoreSource.Mode) throws(ActionFault) {
        let services = ProgramServices(mode, log: RealmLog { _, _ in })
        configuration = try GatehouseCommand.load(options, kinds, services)
        guard let source = configuration.services[StoreSource.self] else {
            throw ActionFault(.configuration, "this program has no store")
        }
        do throws(StoreFault) {
            store = try source.store()
        } catch {
            throw ActionFault(.unavailable, error.description)
        }
    }

    func clear(_ what: Clearance.What) async throws(ActionFault) {
        do throws(ThrottleStoreError) {
            try await store.clear(what)
        } catch {
            throw ActionFault(.unavailable, error.message)
        }
    }

    /// Whether a text is an address, or something else that is counted like one.
    func check(_ source: String) async throws(ActionFault) {
        do throws(BadValue) {
            _ = try AddressBlock(source)
            // Of networks there are those of 64 bits that stand for one customer, as they are listed.
            guard source.contains("/"), !source.hasSuffix("::/64") else { return }
        } catch {
            guard try await !records().contains(where: { $0.key == .source(Source(source)) }) else { return }
        }
        throw ActionFault(.usage, "--source takes an address such as 192.0.2.7 or 2001:db8::1, not \(source)")
    }

    func records() async throws(ActionFault) -> [ThrottleRecord] {
        do throws(ThrottleStoreError) {
            return try await store.load().records
        } catch {
            throw ActionFault(.unavailable, error.message)
        }
    }

    func clear(user: String, of realm: String?) async throws(ActionFault) {
        guard let name = realm ?? configuration.defaultRealm else {
            throw ActionFault(.usage, "name a realm by --realm; the configuration has no default-realm")
        }
        let username = try UserDesk.username(user)
        let account: Account
        do throws(RealmError) {
            account = try configuration.authenticator.realm(name).account(of: username)
        } catch {
            throw ActionFault(error)
        }
        try await clear(.one(.account(account)))
        let done = "\(Printable.line(user)) is not locked, and has no failed logins (realm \(name))"
        GatehouseCommand.print(done, on: STDOUT_FILENO)
    }
}

extension GatehouseOptions.Lockouts.List: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try LockoutDesk(options, kinds, .look)
        let records = try await desk.records()
        let now = WallClock.system.seconds
        let shown = records.filter { all || $0.lockout(at: now) != nil }.sorted { $0.newest > $1.newest }
        guard !shown.isEmpty else {
            GatehouseCommand.print(all ? "nothing has failed lately" : "nothing is locked", on: STDOUT_FILENO)
            return
        }
        let rows = shown.map { record in
            [
                kind(record.key), record.key.description, "\(record.failures)", Self.time(record.newest),
                end(record, now),
            ]
        }
        let table = Table.lines([["what", "who", "failures", "last", "locked until"]] + rows)
        GatehouseCommand.print(table.joined(separator: "\n"), on: STDOUT_FILENO)
    }

    private func kind(_ key: ThrottleKey) -> String {
        switch key {
        case .account: "account"
        case .source: "address"
        }
    }

    private func end(_ record: ThrottleRecord, _ now: Int) -> String {
        record.lockout(at: now).map { Self.time($0.end) } ?? "not locked"
    }

    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension GatehouseOptions.Lockouts.Clear: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try LockoutDesk(options.configuration, kinds, .make)
        if let user {
            try await desk.clear(user: user, of: options.realm)
        } else if let source {
            try await desk.check(source)
            try await desk.clear(.one(.source(Source(source))))
            GatehouseCommand.print("\(Printable.line(source)) is not locked", on: STDOUT_FILENO)
        } else {
            try await desk.clear(.all)
            GatehouseCommand.print("nothing is locked", on: STDOUT_FILENO)
        }
    }
}

extension GatehouseOptions.User.Unlock: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        try await LockoutDesk(options.configuration, kinds, .make).clear(user: user, of: options.realm)
    }
}
