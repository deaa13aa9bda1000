// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions
internal import Glibc
internal import LentServices
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO

/// A realm whose users can be changed, and what changing them takes.
struct UserDesk {
    let realmName: String
    let realm: any ManagedRealm
    let passwords: PasswordService
    let settings: PasswordSettings
    let services: RealmServices
    let stateFolder: String

    init(_ options: RealmOptions, _ kinds: [RealmKind], changes: Bool = true) throws(ActionFault) {
        let log = RealmLog.once { GatehouseCommand.print(Printable.text($0), on: STDERR_FILENO) }
        let program = ProgramServices(changes ? .make : .look, log: log)
        let configuration = try GatehouseCommand.load(options.configuration, kinds, program)
        let bound = try configuration.realm(options.realm)
        guard let realm = bound.realm as? any ManagedRealm else {
            let others = configuration.realms.filter { $0.realm is any ManagedRealm }.map(\.name)
            let hint = others.isEmpty ? "there is no realm whose can" : "those of \(others.joined(separator: ", ")) can"
            throw ActionFault(
                .failed,
                "the users of realm \(bound.name) (\(bound.className)) cannot be changed here; \(hint)"
            )
        }
        guard let passwords = configuration.services[PasswordService.self] else {
            throw ActionFault(.configuration, "this program cannot hash passwords")
        }
        realmName = bound.name
        self.realm = realm
        self.passwords = passwords
        settings = configuration.passwords
        services = configuration.services
        stateFolder = configuration.server.stateFolder.value
    }

    /// The user of that name.
    func record(_ text: String) async throws(ActionFault) -> UserRecord {
        let name = try Self.username(text)
        do throws(RealmError) {
            guard let record = try await realm.users().first(where: { $0.name == name }) else {
                throw RealmError.noSuchUser(name)
            }
            return record
        } catch {
            throw ActionFault(error)
        }
    }

    func change(_ text: String, _ changes: UserChanges, _ done: String) async throws(ActionFault) {
        let name = try Self.username(text)
        do throws(RealmError) {
            try await realm.change(name, changes)
        } catch {
            throw ActionFault(error)
        }
        say("\(Printable.line(text)) \(done)")
    }

    /// The hash of a new password, if it is one that may be.
    func hash(_ password: Secret) async throws(ActionFault) -> String {
        do throws(HashFault) {
            try settings.check(password)
        } catch {
            throw ActionFault(.failed, error.description)
        }
        do throws(LoginFault) {
            return try await passwords.hash(password)
        } catch {
            throw ActionFault(error.kind == .unusableCredential ? .failed : .unavailable, error.log)
        }
    }

    func say(_ text: String) {
        GatehouseCommand.print("\(text) (realm \(realmName))", on: STDOUT_FILENO)
    }

    static func username(_ text: String) throws(ActionFault) -> Username {
        // That is what the system's bytes have become where they are no text: several names would be one.
        guard !text.unicodeScalars.contains("\u{FFFD}") else { throw ActionFault(.usage, "the user name is not UTF-8") }
        do throws(BadUsername) { return try Username(text) } catch { throw ActionFault(.usage, error.description) }
    }
}

extension GatehouseOptions.User.List: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try UserDesk(options, kinds, changes: false)
        do throws(RealmError) {
            let users = try await desk.realm.users()
            GatehouseCommand.print(json ? UserText.json(users) : UserText.table(users), on: STDOUT_FILENO)
        } catch {
            throw ActionFault(error)
        }
    }
}

extension GatehouseOptions.User.Show: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let record = try await UserDesk(options, kinds, changes: false).record(user)
        GatehouseCommand.print(json ? UserText.json(record) : UserText.sheet(record), on: STDOUT_FILENO)
    }
}

extension GatehouseOptions.User.Add: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try UserDesk(options, kinds)
        let name = try UserDesk.username(user)
        let record = UserRecord(
            name,
            groups: groups,
            isEnabled: !disabled,
            expiry: try expires.map { (day) throws(ActionFault) in try Day.end(of: day) },
            mustChangePassword: mustChange
        )
        // Before anybody has typed a password twice for nothing.
        do throws(RealmError) {
            guard try await !desk.realm.users().contains(where: { $0.name == name }) else { throw .userExists(name) }
        } catch {
            throw ActionFault(error)
        }
        var hash: String?
        if !noPassword { hash = try await desk.hash(try await password.read(for: user)) }
        do throws(RealmError) {
            try await desk.realm.add(record, hash: hash)
        } catch {
            throw ActionFault(error)
        }
        desk.say("\(Printable.line(user)) added")
    }
}

extension GatehouseOptions.User.SetPassword: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try UserDesk(options, kinds)
        let record = try await desk.record(user)
        var changes = UserChanges()
        changes.hash = try await desk.hash(try await password.read(for: user))
        if mustChange || record.mustChangePassword { changes.mustChangePassword = mustChange }
        try await desk.change(user, changes, "has a new password")
    }
}

extension GatehouseOptions.User.Remove: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try UserDesk(options, kinds)
        let name = try UserDesk.username(user)
        do throws(RealmError) {
            try await desk.realm.remove(name)
        } catch {
            throw ActionFault(error)
        }
        desk.say("\(Printable.line(user)) removed")
    }
}

extension GatehouseOptions.User.Groups: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let isChange = !add.isEmpty || !remove.isEmpty
        let desk = try UserDesk(options, kinds, changes: isChange)
        // Two that read the same groups would each write its own.
        let turn = isChange ? try await Turn(desk.stateFolder) : nil
        defer { withExtendedLifetime(turn) {} }
        let record = try await desk.record(user)
        guard isChange else {
            for group in record.groups { GatehouseCommand.print(Printable.line(group), on: STDOUT_FILENO) }
            return
        }
        for group in remove where !record.groups.contains(group) {
            throw ActionFault(.failed, "\(Printable.line(user)) is not in the group \(Printable.line(group))")
        }
        var changes = UserChanges()
        let kept = record.groups.filter { !remove.contains($0) }
        changes.groups = kept + add.filter { !kept.contains($0) }
        let groups = (changes.groups ?? []).map(Printable.line).joined(separator: ", ")
        try await desk.change(user, changes, groups.isEmpty ? "is in no group" : "is in \(groups)")
    }
}

extension GatehouseOptions.User.Enable: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        var changes = UserChanges()
        changes.isEnabled = true
        try await UserDesk(options, kinds).change(user, changes, "may sign in")
    }
}

extension GatehouseOptions.User.Disable: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        var changes = UserChanges()
        changes.isEnabled = false
        try await UserDesk(options, kinds).change(user, changes, "may not sign in")
    }
}

extension GatehouseOptions.User.Expire: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        var changes = UserChanges()
        let end: Int? = day == "never" ? nil : try Day.end(of: day)
        changes.expiry = .some(end)
        try await UserDesk(options, kinds).change(user, changes, end == nil ? "has no end" : "ends after \(day)")
    }
}

extension GatehouseOptions.User.Unlock: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        try await LockoutDesk(options.configuration, kinds, .make).clear(user: user, of: options.realm)
    }
}
