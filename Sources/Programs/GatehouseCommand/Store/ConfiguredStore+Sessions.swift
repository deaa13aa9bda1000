// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store

extension ConfiguredStore {
    /// Reads the sessions of sign-ins that have not expired, the session that was used last first, some at a time.
    func forEachBatch(_ selection: SessionSelection, use: ([ListedSession]) -> Void) async throws {
        let now = WallClock.system.seconds
        var rest = try await store.signInSessions(selection, at: now)[...]
        while !rest.isEmpty {
            let ids = Array(rest.prefix(GatehouseStore.listedSessionsBatch))
            rest = rest.dropFirst(ids.count)
            let sessions = try await store.listedSessions(ids, at: now)
            if !sessions.isEmpty { use(sessions) }
        }
    }

    /// Ends the sessions of a removed user, so that a user who gets the name later does not have them.
    func endSessions(of user: Username, in realm: String) async throws {
        var selections = [SessionSelection.user(realm: realm, name: user)]
        for other in configuration.realms where other.allNested.contains(where: { $0.name.hasBytes(of: realm) }) {
            try await forEachBatch(.realm(other.name)) { batch in
                selections += batch.map(\.session).filter {
                    other.isConcerned($0.user.username, by: [user], of: realm)
                }.map { SessionSelection.one($0.id) }
            }
        }
        for selection in selections { _ = try await store.storeCommand(.end(selection)) }
        try await waitForServer()
    }

    /// Stores a command for the server, waits until it is carried out, and prints the number of affected sessions.
    func send(_ action: SessionCommand.Action, done: String) async throws {
        let count = try await store.storeCommand(action)
        try await waitForServer()
        let sessions = count == 1 ? "1 session" : "\(count) sessions"
        GatehouseCommand.print("\(sessions) \(done)")
    }

    /// Selects the sessions of a user, by the name as the realm spells it; without a realm, of the default realm.
    func selection(user: String, of realm: String?) async throws -> SessionSelection {
        let bound = try configuration.realm(realm)
        var name = try Username(argument: user)
        if let managed = bound.realm as? any ManagedRealm {
            // A user who was removed may still have sessions.
            name = try await managed.user(name)?.name ?? name
        }
        return .user(realm: bound.name, name: name)
    }
}

extension SessionRecord {
    /// The time at which the session ends if it is not used any more.
    var end: Int { min(idleExpiry, absoluteExpiry) }

    /// The session as JSON, with the session as parent that it was handed over from; a key without a value is left out.
    var json: String {
        let json: JSONValue = [
            "id": .text(id.description),
            "parent": parent.map { .text($0.description) },
            "user": .text(user.username.text),
            "realm": .text(user.realm),
            "host": .text(host.name),
            "address": client.address.map(JSONValue.text),
            "client": .text(client.userAgent),
            "started": .text(UTCTime.text(created)),
            "lastUsed": .text(UTCTime.text(lastSeen)),
            "expires": .text(UTCTime.text(end)),
        ]
        return json.text(.terminal)
    }
}
