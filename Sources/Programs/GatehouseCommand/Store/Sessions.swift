// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import SignIn
internal import Store

extension GatehouseOptions {
    /// `gatehouse sessions`: the sessions of signed-in users.
    struct Sessions: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "sessions",
            abstract: "List and end sessions, or send a message to their users.",
            discussion: "A running server applies changes within a second.",
            subcommands: [List.self, End.self, Message.self]
        )

        struct List: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "list",
                abstract: "List sessions.",
                discussion: """
                    A sign-in and the sessions at other hosts that were handed over from it are one line. \
                    The time of the last use may be up to 15 seconds old.
                    """
            )
            @OptionGroup var options: RealmOptions
            @Option(help: ArgumentHelp("Only sessions of this user.", valueName: "name")) var user: String?
            @Flag(help: "Print JSON, with an object for each host of a session.") var json = false

            func perform(_ kinds: [RealmKind]) async throws {
                let sessions = try ConfiguredStore(options.configuration, kinds: kinds, access: .existingOnly)
                // A realm that was removed from the configuration may still have sessions.
                var selection = options.realm.map(SessionSelection.realm) ?? .all
                if let user { selection = try await sessions.selection(user: user, of: options.realm) }
                try await json ? printJSON(sessions, selection) : printTable(sessions, selection)
            }

            private func printTable(_ sessions: ConfiguredStore, _ selection: SessionSelection) async throws {
                var columns: Table.Columns?
                try await sessions.forEachBatch(selection) { batch in
                    let head = [
                        "session", "user", "realm", "hosts", "address", "started", "last used", "expires", "client",
                    ]
                    let rows = (columns == nil ? [head] : []) + batch.map(Self.row)
                    // The first sessions determine the widths, so that not all sessions are kept in memory.
                    let known = columns ?? Table.Columns(of: rows)
                    columns = known
                    GatehouseCommand.print(known.lines(rows).joined(separator: "\n"))
                }
                if columns == nil { GatehouseCommand.print("there are no sessions") }
            }

            private func printJSON(_ sessions: ConfiguredStore, _ selection: SessionSelection) async throws {
                // The last object waits until it is known whether another object follows.
                var last: String?
                try await sessions.forEachBatch(selection) { batch in
                    let objects = batch.flatMap { [$0.session] + $0.children }.map(\.json)
                    let complete = (last.map { [$0] } ?? []) + objects.dropLast()
                    let lines = (last == nil ? ["["] : []) + complete.map { $0 + "," }
                    if !lines.isEmpty { GatehouseCommand.print(lines.joined(separator: "\n")) }
                    last = objects.last
                }
                GatehouseCommand.print(last.map { $0 + "\n]" } ?? "[]")
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

            /// The name of a client for its User-Agent field, or the beginning of the field; JSON has all of it.
            private static func client(_ field: String) -> String {
                let device = DeviceName.of(field.utf8Span.span)
                return device == DeviceName.unknown ? String(field.prefix(24)) : device.text(in: .english)
            }
        }

        struct End: Subcommand {
            static let configuration = CommandConfiguration(commandName: "end", abstract: "End sessions.")
            @OptionGroup var options: RealmOptions
            @Argument(help: "The id of a session, as sessions list shows it.") var id: String?
            @Option(help: ArgumentHelp("All sessions of this user of the realm.", valueName: "name"))
            var user: String?
            @Flag(help: "All sessions.") var all = false

            func validate() throws {
                // --realm without --user selects all users of the realm.
                let isRealm = options.realm != nil && user == nil
                guard [id != nil, user != nil, isRealm, all].count(where: { $0 }) == 1 else {
                    throw ValidationError("end needs one of: a session, --user, --realm, --all")
                }
            }

            func perform(_ kinds: [RealmKind]) async throws {
                let sessions = try ConfiguredStore(options.configuration, kinds: kinds, access: .createIfMissing)
                let selection: SessionSelection =
                    if let id {
                        .one(try SessionID(argument: id))
                    } else if let user {
                        try await sessions.selection(user: user, of: options.realm)
                    } else {
                        options.realm.map(SessionSelection.realm) ?? .all
                    }
                try await sessions.send(.end(selection), done: "ended")
            }
        }

        struct Message: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "message",
                abstract: "Send a message to users who have a page open.",
                discussion: "The text is one line. It is cut to 1,000 bytes."
            )
            @OptionGroup var options: RealmOptions
            @Option(help: ArgumentHelp("All sessions of a user of the realm.", valueName: "name"))
            var user: String?
            @Flag(help: "All sessions.") var all = false
            @Argument(
                help:
                    """
                    The id of a session, as sessions list shows it, and the text. With --user, --realm or --all, only \
                    the text.
                    """
            )
            var words: [String] = []

            func validate() throws {
                // --realm without --user selects all users of the realm.
                let isRealm = options.realm != nil && user == nil
                let selections = [user != nil, isRealm, all].count(where: { $0 })
                guard selections < 2, words.count == 2 - selections else {
                    throw ValidationError("message needs a text after one of: a session, --user, --realm, --all")
                }
            }

            func perform(_ kinds: [RealmKind]) async throws {
                let sessions = try ConfiguredStore(options.configuration, kinds: kinds, access: .createIfMissing)
                let selection: SessionSelection =
                    if let user {
                        try await sessions.selection(user: user, of: options.realm)
                    } else if let realm = options.realm {
                        .realm(realm)
                    } else if all {
                        .all
                    } else {
                        .one(try SessionID(argument: words[0]))
                    }
                try await sessions.send(.message(selection, words[words.count - 1]), done: "will get the message")
            }
        }
    }
}

extension SessionID {
    fileprivate init(argument text: String) throws {
        guard let id = SessionID(text) else {
            throw CommandError(.usage, "a session id has 22 characters; gatehouse sessions list shows the ids")
        }
        self = id
    }
}
