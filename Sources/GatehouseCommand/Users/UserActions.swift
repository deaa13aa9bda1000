// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import HostServices
internal import RealmKit

extension GatehouseOptions.User.List: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds, access: .existingOnly)
        do throws(RealmError) {
            let users = try await administration.realm.users()
            GatehouseCommand.print(json ? UserText.json(users) : UserText.table(users), on: STDOUT_FILENO)
        } catch {
            throw CommandError(error)
        }
    }
}

extension GatehouseOptions.User.Show: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let record = try await UserAdministration(options, kinds: kinds, access: .existingOnly).record(user)
        GatehouseCommand.print(json ? UserText.json(record) : UserText.details(record), on: STDOUT_FILENO)
    }
}

extension GatehouseOptions.User.Add: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let name = try Username(argument: user)
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
            let users = try await administration.realm.users()
            guard !users.contains(where: { $0.name == name }) else { throw .userExists(name) }
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
        let name = try Username(argument: user)
        do throws(RealmError) {
            try await administration.realm.remove(name)
        } catch {
            throw CommandError(error)
        }
        administration.report("\(Printable.line(user)) removed")
    }
}

extension GatehouseOptions.User.Groups: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let isChange = !add.isEmpty || !remove.isEmpty
        let access = isChange ? StateAccess.createIfMissing : .existingOnly
        let administration = try UserAdministration(options, kinds: kinds, access: access)
        // Without the lock, two commands could read the same groups, and the second command would overwrite the change of
        // the first command.
        let lock = isChange ? try await StateFolderLock(administration.stateFolder) : nil
        defer { withExtendedLifetime(lock) {} }
        let record = try await administration.record(user)
        guard isChange else {
            for group in record.groups { GatehouseCommand.print(Printable.line(group), on: STDOUT_FILENO) }
            return
        }
        for group in remove where !record.groups.contains(group) {
            throw CommandError(.failed, "\(Printable.line(user)) is not in the group \(Printable.line(group))")
        }
        var changes = UserChanges()
        let kept = record.groups.filter { !remove.contains($0) }
        changes.groups = kept + add.filter { !kept.contains($0) }
        let groups = (changes.groups ?? []).map(Printable.line).joined(separator: ", ")
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
        changes.expiry = .some(end)
        let done = end == nil ? "never expires" : "expires after \(day)"
        try await UserAdministration(options, kinds: kinds).change(user, to: changes, done: done)
    }
}

extension GatehouseOptions.User.Unlock: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        try await LockoutAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
            .clear(user: user, of: options.realm)
    }
}
