// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store

/// The store, and what was asked of it about sessions.
struct SessionDesk {
    let configuration: Configuration
    let store: GatehouseStore

    init(_ options: ConfigurationOptions, _ kinds: [RealmKind], _ mode: StoreSource.Mode) throws(ActionFault) {
        (configuration, store) = try GatehouseCommand.loadStore(options, kinds, mode)
    }

    /// All sessions whose time is not over.
    func sessions() async throws(ActionFault) -> [SessionRecord] {
        let now = WallClock.system.seconds
        do throws(SessionStoreError) {
            return try await store.loadSessions().sessions.filter { min($0.idleExpiry, $0.absoluteExpiry) > now }
        } catch {
            throw ActionFault(.unavailable, error.message)
        }
    }

    /// Gives an order, and says how many sessions it concerns.
    func order(_ what: SessionOrder.What, done: String) async throws(ActionFault) {
        let count: Int
        do throws(SessionStoreError) {
            count = try await store.orderSessions(what)
        } catch {
            throw ActionFault(.unavailable, error.message)
        }
        let sessions = count == 1 ? "1 session" : "\(count) sessions"
        GatehouseCommand.print("\(sessions) \(done)", on: STDOUT_FILENO)
    }

    /// The sessions of a user of a realm, or of the default one.
    func selection(user: String, of realm: String?) throws(ActionFault) -> SessionSelection {
        .user(realm: try configuration.realm(realm).name, name: try UserDesk.username(user))
    }

    static func id(_ text: String) throws(ActionFault) -> SessionID {
        guard let id = SessionID(text) else {
            throw ActionFault(.usage, "a session is 22 characters, as gatehouse sessions list shows it")
        }
        return id
    }
}
