// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Foundation
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store
internal import TerminalIO

extension GatehouseOptions.Sessions.List: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try SessionDesk(options.configuration, kinds, .look)
        var selection = SessionSelection.all
        if let user {
            selection = try desk.selection(user: user, of: options.realm)
        } else if let realm = options.realm {
            // One that the configuration has no more may have sessions still.
            selection = .realm(realm)
        }
        let shown = try await desk.sessions()
            .filter { selection.includes($0.id, of: $0.user) }
            .sorted { $0.lastSeen > $1.lastSeen }
        guard !shown.isEmpty else {
            GatehouseCommand.print("there are no sessions", on: STDOUT_FILENO)
            return
        }
        let rows = shown.map { session in
            [
                session.id.description, Printable.line(session.user.username.text), Printable.line(session.user.realm),
                Printable.line(session.client.address ?? ""), Self.time(session.created), Self.time(session.lastSeen),
                Self.time(min(session.idleExpiry, session.absoluteExpiry)), Printable.line(session.client.userAgent),
            ]
        }
        let head = ["session", "user", "realm", "address", "begun", "last used", "ends", "client"]
        GatehouseCommand.print(Table.lines([head] + rows).joined(separator: "\n"), on: STDOUT_FILENO)
    }

    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension GatehouseOptions.Sessions.End: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try SessionDesk(options.configuration, kinds, .make)
        let selection: SessionSelection
        if let id {
            selection = .one(try SessionDesk.id(id))
        } else if let user {
            selection = try desk.selection(user: user, of: options.realm)
        } else if let realm = options.realm {
            selection = .realm(realm)
        } else {
            selection = .all
        }
        try await desk.order(.end(selection), done: "ended")
    }
}

extension GatehouseOptions.Sessions.Message: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try SessionDesk(options.configuration, kinds, .make)
        let selection: SessionSelection =
            if let user {
                try desk.selection(user: user, of: options.realm)
            } else {
                .one(try SessionDesk.id(words[0]))
            }
        try await desk.order(.message(selection, words[words.count - 1]), done: "will be told")
    }
}
