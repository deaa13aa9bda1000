// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO
internal import Throttle

/// The store, and what was asked of it.
struct LockoutDesk {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, _ kinds: [RealmKind], _ mode: StoreSource.Mode) throws(ActionFault) {
        (configuration, store) = try GatehouseCommand.loadStore(options, kinds, mode)
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
        let bound = try configuration.realm(realm)
        let account = bound.account(of: try UserDesk.username(user))
        try await clear(.one(.account(account)))
        let done = "\(Printable.line(user)) is not locked, and has no failed logins (realm \(bound.name))"
        GatehouseCommand.print(done, on: STDOUT_FILENO)
    }
}
