// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn
internal import Store

extension GatehouseOptions.Sessions.List: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let sessions = try SessionAdministration(options.configuration, kinds: kinds, access: .existingOnly)
        var selection = SessionSelection.all
        if let user {
            selection = try await sessions.selection(user: user, of: options.realm)
        } else if let realm = options.realm {
            // A realm that was removed from the configuration may still have sessions.
            selection = .realm(realm)
        }
        try await json ? printJSON(sessions, selection) : printTable(sessions, selection)
    }

    private func printTable(
        _ sessions: SessionAdministration,
        _ selection: SessionSelection
    ) async throws(CommandError) {
        var columns: Table.Columns?
        try await sessions.forEachBatch(selection) { batch in
            let head = ["session", "user", "realm", "hosts", "address", "started", "last used", "expires", "client"]
            let rows = (columns == nil ? [head] : []) + batch.map(Self.row)
            // The first sessions determine the widths, so that not all sessions are kept in memory.
            let known = columns ?? Table.Columns(of: rows)
            columns = known
            GatehouseCommand.print(known.lines(rows).joined(separator: "\n"), on: STDOUT_FILENO)
        }
        if columns == nil { GatehouseCommand.print("there are no sessions", on: STDOUT_FILENO) }
    }

    private func printJSON(
        _ sessions: SessionAdministration,
        _ selection: SessionSelection
    ) async throws(CommandError) {
        // The last object waits until it is known whether another object follows.
        var last: String?
        try await sessions.forEachBatch(selection) { batch in
            let objects = batch.flatMap { [$0.session] + $0.children }.map(SessionJSONText.text)
            let complete = (last.map { [$0] } ?? []) + objects.dropLast()
            let lines = (last == nil ? ["["] : []) + complete.map { $0 + "," }
            if !lines.isEmpty { GatehouseCommand.print(lines.joined(separator: "\n"), on: STDOUT_FILENO) }
            last = objects.last
        }
        GatehouseCommand.print(last.map { $0 + "\n]" } ?? "[]", on: STDOUT_FILENO)
    }

    private static func row(_ listed: ListedSession) -> [String] {
        let session = listed.session
        let others = listed.children.map(\.host.name).filter { !$0.utf8.elementsEqual(session.host.name.utf8) }
        return [
            session.id.description, session.user.username.text, session.user.realm,
            ([session.host.name] + others).joined(separator: " "), session.client.address ?? "",
            UTCTime.text(session.created), UTCTime.text(session.lastSeen),
            UTCTime.text(session.end), client(session.client.userAgent),
        ]
    }

    /// Returns the name of a client for its User-Agent field, or the beginning of the field; JSON has all of it.
    private static func client(_ field: String) -> String {
        let device = DeviceName.of(field.utf8Span.span)
        return device == DeviceName.unknown ? String(field.prefix(24)) : device.text(in: .english)
    }
}

extension GatehouseOptions.Sessions.End: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let sessions = try SessionAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
        let selection: SessionSelection
        if let id {
            selection = .one(try SessionAdministration.id(id))
        } else if let user {
            selection = try await sessions.selection(user: user, of: options.realm)
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
                try await sessions.selection(user: user, of: options.realm)
            } else if all {
                .all
            } else {
                .one(try SessionAdministration.id(words[0]))
            }
        try await sessions.send(.message(selection, words[words.count - 1]), done: "will get the message")
    }
}
