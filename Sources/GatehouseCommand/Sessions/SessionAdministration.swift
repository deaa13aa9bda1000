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

    /// All sessions that have not expired.
    func sessions() async throws(CommandError) -> [SessionRecord] {
        let now = WallClock.system.seconds
        do throws(SessionStoreError) {
            return try await store.loadSessions().sessions.filter { min($0.idleExpiry, $0.absoluteExpiry) > now }
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
