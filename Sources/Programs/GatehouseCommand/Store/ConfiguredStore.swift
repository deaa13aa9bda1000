// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import Throttle

/// A configuration and its store, with which commands read and change the locks and sessions of a server.
struct ConfiguredStore {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, kinds: [RealmKind], access: StateAccess) throws {
        configuration = try GatehouseCommand.load(options, kinds: kinds, access: access)
        guard let source = configuration.services[LazyStore.self] else {
            throw CommandError(.configuration, "this program has no store")
        }
        store = try source.store()
    }

    init(_ configuration: Configuration, store: GatehouseStore) {
        (self.configuration, self.store) = (configuration, store)
    }

    /// Waits up to five seconds until a running server has carried out what this command has stored.
    func waitForServer() async throws {
        do {
            for _ in 0..<250 {
                guard try await store.isServerBehind() else { return }
                try await Task.sleep(for: .milliseconds(20))
            }
        } catch {
            throw CommandError(.unavailable, "\(error)")
        }
        throw CommandError(
            .unavailable,
            "the change is stored, but the running server has not carried it out within 5 seconds; see its log"
        )
    }
}

extension LazyStore {
    /// The failed logins and locks that the server has stored; none without a store.
    func locks() async throws -> [ThrottleKey: ThrottleRecord] {
        do {
            let records = try await present()?.load().records ?? []
            return Dictionary(records.map { ($0.key, $0) }) { _, last in last }
        } catch {
            throw CommandError(.unavailable, "the locks could not be read: \(error)")
        }
    }
}
