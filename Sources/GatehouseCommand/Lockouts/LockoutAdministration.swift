// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import Glibc
internal import HostServices
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import Throttle

/// The failed logins and locks in the store of a configuration.
struct LockoutAdministration {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, kinds: [RealmKind], access: StateAccess) throws(CommandError) {
        (configuration, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: access)
    }

    func clear(_ scope: LockoutReset.Scope) async throws(CommandError) {
        do throws(ThrottleStoreError) {
            try await store.clear(scope)
        } catch {
            throw CommandError(.unavailable, error.message)
        }
        try await GatehouseCommand.waitForServer(store)
    }

    /// Checks that a text is an address, or a network under which failed logins are counted.
    func check(_ source: String) async throws(CommandError) {
        do throws(BadValue) {
            _ = try CIDRBlock(source)
            // Failed logins over IPv6 are counted for networks of 64 bits. `lockouts list` shows them as networks, so
            // --source accepts such a network too.
            guard source.contains("/"), !source.hasSuffix("::/64") else { return }
        } catch {
            guard try await !records().contains(where: { $0.key == .source(ClientNetwork(source)) }) else { return }
        }
        throw CommandError(.usage, "--source takes an address such as 192.0.2.7 or 2001:db8::1, not \(source)")
    }

    func records() async throws(CommandError) -> [ThrottleRecord] {
        do throws(ThrottleStoreError) {
            return try await store.load().records
        } catch {
            throw CommandError(.unavailable, error.message)
        }
    }

    func clear(user: String, of realm: String?) async throws(CommandError) {
        let bound = try configuration.realm(realm)
        let account = bound.account(of: try Username(argument: user))
        try await clear(.one(.account(account)))
        let done = "\(Printable.line(user)) is not locked, and has no failed logins (realm \(bound.name))"
        GatehouseCommand.print(done, on: STDOUT_FILENO)
    }
}
