// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import FoundationEssentials
internal import Glibc
internal import HostServices
internal import RealmConfiguration
internal import RealmKit
internal import Sessions

extension GatehouseOptions.Sessions.List: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let sessions = try SessionAdministration(options.configuration, kinds: kinds, access: .existingOnly)
        var selection = SessionSelection.all
        if let user {
            selection = try sessions.selection(user: user, of: options.realm)
        } else if let realm = options.realm {
            // A realm that was removed from the configuration may still have sessions.
            selection = .realm(realm)
        }
        let all = try await sessions.sessions()
        let shown = all.filter { $0.parent == nil && selection.includes($0.id, of: $0.user) }
            .sorted { $0.lastSeen > $1.lastSeen }
        guard !shown.isEmpty else {
            GatehouseCommand.print("there are no sessions", on: STDOUT_FILENO)
            return
        }
        var hosts: [SessionID: [String]] = [:]
        for session in all { hosts[session.parent ?? session.id, default: []].append(session.host.name) }
        let rows = shown.map { session in
            let others = (hosts[session.id] ?? []).filter { !$0.utf8.elementsEqual(session.host.name.utf8) }
            let places = ([session.host.name] + others.sorted()).joined(separator: " ")
            return [
                session.id.description, Printable.line(session.user.username.text), Printable.line(session.user.realm),
                places, Printable.line(session.client.address ?? ""), Self.time(session.created),
                Self.time(session.lastSeen), Self.time(min(session.idleExpiry, session.absoluteExpiry)),
                Printable.line(session.client.userAgent),
            ]
        }
        let head = ["session", "user", "realm", "hosts", "address", "started", "last used", "expires", "client"]
        GatehouseCommand.print(Table.lines([head] + rows).joined(separator: "\n"), on: STDOUT_FILENO)
    }

    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension GatehouseOptions.Sessions.End: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let sessions = try SessionAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
        let selection: SessionSelection
        if let id {
            selection = .one(try SessionAdministration.id(id))
        } else if let user {
            selection = try sessions.selection(user: user, of: options.realm)
        } else if let realm = options.realm {
            selection = .realm(realm)
        } else {
            selection = .all
        }
        try await sessions.send(.end(selection), done: "ended")
    }
}

extension GatehouseOptions.Sessions.Message: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let sessions = try SessionAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
        let selection: SessionSelection =
            if let user {
                try sessions.selection(user: user, of: options.realm)
            } else {
                .one(try SessionAdministration.id(words[0]))
            }
        try await sessions.send(.message(selection, words[words.count - 1]), done: "will get the message")
    }
}
