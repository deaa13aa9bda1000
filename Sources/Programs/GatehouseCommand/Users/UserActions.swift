// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions.User.List: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let directory = try UserDirectory(options, kinds: kinds)
        let users = try await directory.users()
        let text = await directory.text()
        GatehouseCommand.print(json ? text.json(users) : text.table(users), on: STDOUT_FILENO)
    }
}

extension GatehouseOptions.User.Show: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let directory = try UserDirectory(options, kinds: kinds)
        let record = try await directory.record(user)
        let text = await directory.text()
        GatehouseCommand.print(json ? text.json(record) : text.details(record), on: STDOUT_FILENO)
    }
}

extension GatehouseOptions.User.Add: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let name = try Username(newUser: user)
        let record = UserRecord(
            name,
            groups: groups,
            isEnabled: !disabled,
            expiry: try expires.map { (day) throws(CommandError) in try Day.end(of: day) },
            mustChangePassword: mustChange,
            attributes: try attributes.attributes()
        )
        // The name is checked first, so that the administrator does not type a password for a user who exists.
        do throws(RealmError) {
            if let other = try await administration.realm.user(name) { throw .userExists(other.name) }
        } catch {
            throw CommandError(error)
        }
        var hash: String?
        if !noPassword { hash = try await administration.hash(try await password.read(for: user)) }
        do throws(RealmError) {
            try await administration.realm.add(record, hash: hash)
        } catch {
            throw CommandError(error)
        }
        administration.report("\(Printable.line(user)) added")
    }
}

extension GatehouseOptions.User.SetPassword: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let record = try await administration.record(user)
        var changes = UserChanges()
        changes.hash = try await administration.hash(try await password.read(for: user))
        if mustChange || record.mustChangePassword { changes.mustChangePassword = mustChange }
        try await administration.change(user, to: changes, done: "has a new password")
    }
}

extension GatehouseOptions.User.Remove: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let name = try await administration.record(user).name
        try await administration.remove(name)
        administration.report("\(Printable.line(name.text)) removed")
    }
}

extension GatehouseOptions.User.Groups: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        guard !add.isEmpty || !remove.isEmpty else {
            let record = try await UserDirectory(options, kinds: kinds).record(user)
            for group in record.groups { GatehouseCommand.print(Printable.line(group), on: STDOUT_FILENO) }
            return
        }
        let administration = try UserAdministration(options, kinds: kinds)
        // Without the lock, two commands could read the same groups, and the second command would overwrite the change of
        // the first command.
        let lock = try await StateFolderLock(administration.stateFolder)
        defer { withExtendedLifetime(lock) {} }
        let record = try await administration.record(user)
        // By bytes, as rules compare groups.
        let (present, removed) = (record.groups.map { UTF8Text($0) }, remove.map { UTF8Text($0) })
        for group in remove where !present.contains(UTF8Text(group)) {
            throw CommandError(.failed, "\(Printable.line(user)) is not in the group \(Printable.line(group))")
        }
        var changes = UserChanges()
        let kept = present.filter { !removed.contains($0) }
        changes.groups = (kept + add.map { UTF8Text($0) }.filter { !kept.contains($0) }).map(\.string)
        let groups = GroupName.list((changes.groups ?? []).map(Printable.line))
        try await administration.change(user, to: changes, done: groups.isEmpty ? "is in no group" : "is in \(groups)")
    }
}

extension GatehouseOptions.User.Attributes: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        var changes = UserChanges()
        changes.attributes = try attributes.changes()
        guard !changes.attributes.isEmpty else { throw CommandError(.usage, "give --name or --mail") }
        try await UserAdministration(options, kinds: kinds).change(user, to: changes, done: "changed")
    }
}

extension GatehouseOptions.User.Enable: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        var changes = UserChanges()
        changes.isEnabled = true
        try await UserAdministration(options, kinds: kinds).change(user, to: changes, done: "enabled")
    }
}

extension GatehouseOptions.User.Disable: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        var changes = UserChanges()
        changes.isEnabled = false
        try await UserAdministration(options, kinds: kinds).change(user, to: changes, done: "disabled")
    }
}

extension GatehouseOptions.User.Expire: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        var changes = UserChanges()
        let end: Int? = day == "never" ? nil : try Day.end(of: day)
        let administration = try UserAdministration(options, kinds: kinds)
        if let end, end <= Int(WallClock.system.seconds), !yes {
            // The user is looked up first, so that the question is not about a user who does not exist.
            _ = try await administration.record(user)
            try confirm()
        }
        changes.expiry = .some(end)
        let done = end == nil ? "never expires" : "expires after \(day)"
        try await administration.change(user, to: changes, done: done)
    }

    /// Asks whether a day in the past is meant.
    ///
    /// Without a terminal nobody can confirm it, so nothing is changed.
    private func confirm() throws(CommandError) {
        let consequence = "\(Printable.line(day)) is in the past: after this, \(Printable.line(user)) could not sign in"
        guard let terminal = Terminal() else {
            throw CommandError(.usage, "\(consequence); add --yes if this is meant")
        }
        let answer = terminal.readLine("\(consequence). Continue? [y/N] ") ?? ""
        guard ["y", "yes"].contains(answer.lowercased()) else { throw CommandError(.failed, "nothing was changed") }
    }
}

extension GatehouseOptions.User.Unlock: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        try await LockoutAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
            .clear(user: user, of: options.realm)
    }
}
