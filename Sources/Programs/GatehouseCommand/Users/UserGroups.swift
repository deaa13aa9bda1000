// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Files
internal import RealmKit
internal import Store

extension GatehouseOptions.User {
    struct Groups: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "groups",
            abstract: "Show or change a user's groups."
        )
        @OptionGroup var options: RealmOptions
        @Option(help: ArgumentHelp("A group to add; repeatable. A name has no comma.", valueName: "name"))
        var add: [String] = []
        @Option(help: ArgumentHelp("A group to remove; repeatable.", valueName: "name")) var remove: [String] = []
        @Argument(help: "The user.") var user: String

        // A group with a comma can still be removed: earlier versions and other programs may have added it.
        func validate() throws { try GroupOption.check(add, option: "--add") }

        func perform(_ kinds: [RealmKind]) async throws {
            guard !add.isEmpty || !remove.isEmpty else {
                let record = try await UserDirectory(options, kinds: kinds).realm.record(user)
                for group in record.groups { GatehouseCommand.print(Printable.line(group)) }
                return
            }
            let administration = try UserAdministration(options, kinds: kinds)
            // Without the lock, two commands could read the same groups, and the second command would overwrite the change of
            // the first command.
            let lock = try await Self.lock(administration.stateFolder)
            defer { withExtendedLifetime(lock) {} }
            let record = try await administration.realm.record(user)
            // By bytes, as rules compare groups.
            let (present, removed) = (record.groups.map { UTF8Text($0) }, remove.map { UTF8Text($0) })
            for group in remove where !present.contains(UTF8Text(group)) {
                throw CommandError(.failed, "\(Printable.line(user)) is not in the group \(Printable.line(group))")
            }
            let kept = present.filter { !removed.contains($0) }
            let groups = (kept + add.map { UTF8Text($0) }.filter { !kept.contains($0) }).map(\.string)
            let list = GroupName.list(groups.map(Printable.line))
            var changes = UserChanges()
            changes.groups = groups
            try await administration.change(user, changes, done: list.isEmpty ? "is in no group" : "is in \(list)")
        }

        /// Waits for the lock on the state folder, which is created if it is missing.
        private static func lock(_ folder: String) async throws -> StateFolder.Lock {
            do throws(StateFolder.Fault) {
                return try await BlockingCall.run { () throws(StateFolder.Fault) in
                    try StateFolder.Lock(try StateFolder(folder))
                }
            } catch {
                throw CommandError(.unavailable, "the state folder cannot be used: \(error.reason)")
            }
        }
    }
}

/// An option that takes the name of one group, and is repeated for several groups.
enum GroupOption {
    /// Refuses a value with a comma, which is a list of groups in other programs, with the options to write instead.
    static func check(_ values: [String], option: String) throws {
        guard let list = values.first(where: { $0.utf8.contains(UInt8(ascii: ",")) }) else { return }
        let names = list.unicodeScalars.split(separator: ",").map { part in
            String(part.drop { $0 == " " })
        }.filter { !$0.isEmpty }
        let correction = names.count > 1 ? ": " + names.map { "\(option) \($0)" }.joined(separator: " ") : ""
        throw ValidationError("the name of a group has no comma; repeat \(option) for each group\(correction)")
    }
}
