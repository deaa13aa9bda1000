// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import Glibc
internal import HostServices
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store

/// The sessions in the store of a configuration.
struct SessionAdministration {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, kinds: [RealmKind], access: StateAccess) throws(CommandError) {
        (configuration, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: access)
    }

    /// Reads the sessions of sign-ins that have not expired, the session that was used last first.
    ///
    /// - Parameters:
    ///   - selection: The sessions to select.
    ///   - use: Takes some of the sessions, at least one.
    /// - Throws: ``CommandError`` when the store cannot be read.
    func forEachBatch(
        _ selection: SessionSelection,
        use: ([ListedSession]) -> Void
    ) async throws(CommandError) {
        let now = WallClock.system.seconds
        do throws(SessionStoreError) {
            var rest = try await store.signInSessions(selection, at: now)[...]
            while !rest.isEmpty {
                let ids = Array(rest.prefix(GatehouseStore.listedSessionsBatch))
                rest = rest.dropFirst(ids.count)
                let sessions = try await store.listedSessions(ids, at: now)
                if !sessions.isEmpty { use(sessions) }
            }
        } catch {
            throw CommandError(.unavailable, error.message)
        }
    }

    /// Stores a command for the server, and prints the number of affected sessions.
    func send(_ action: SessionCommand.Action, done: String) async throws(CommandError) {
        let count: Int
        do throws(SessionStoreError) {
            count = try await store.storeCommand(action)
        } catch {
            throw CommandError(.unavailable, error.message)
        }
        let sessions = count == 1 ? "1 session" : "\(count) sessions"
        GatehouseCommand.print("\(sessions) \(done)", on: STDOUT_FILENO)
    }

    /// Returns a selection of all sessions of a user.
    ///
    /// If `realm` is nil, the realm is the default realm.
    func selection(user: String, of realm: String?) throws(CommandError) -> SessionSelection {
        .user(realm: try configuration.realm(realm).name, name: try Username(argument: user))
    }

    static func id(_ text: String) throws(CommandError) -> SessionID {
        guard let id = SessionID(text) else {
            throw CommandError(.usage, "a session id has 22 characters; gatehouse sessions list shows the ids")
        }
        return id
    }
}
