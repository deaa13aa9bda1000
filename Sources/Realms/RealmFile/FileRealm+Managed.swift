// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import Passwords
public import RealmKit
internal import Synchronization

extension FileRealm: ManagedRealm {
    /// Returns all users in the order of the file.
    public func users() async throws(RealmError) -> [UserRecord] {
        try await files.newest().table.users.map(\.record)
    }

    /// Returns the user with a name, in any case if case is ignored.
    ///
    /// If several lines differ in the case of the name, the record has the spelling that was given if a line has it.
    public func user(_ name: Username) async throws(RealmError) -> UserRecord? {
        let version = try await files.newest()
        guard let user = version.table[name] else { return nil }
        var record = user.record
        // A command that removes one of these lines removes the line with the name that was given.
        if user.isAmbiguous, user.name != name,
            !version.table.format.lines(of: name, in: version.file.bytes).isEmpty
        {
            record.name = name
        }
        return record
    }

    /// True with `case-sensitive false`.
    public var ignoresCase: Bool { !files.settings.readOptions.isCaseSensitive }

    /// Returns the users in the order of the file, except users on several lines and users with an unreadable hash.
    public func exportUsers() async throws(RealmError) -> [NewUser] {
        let table = try await files.newest().table
        return table.users.filter { !$0.isAmbiguous && !$0.isBroken }.map { user in
            let hash = user.password.map { table.format == .glassfish ? GlassFishPassword.portable($0.text) : $0.text }
            return NewUser(user.record, hash: hash)
        }
    }

    /// Adds a user at the end of the file, with `RESET` instead of a missing hash, or `*` in an htpasswd file.
    public func add(_ user: UserRecord, hash: String?) async throws(RealmError) {
        try await files.apply(.add(user, hash: hash))
    }

    /// Changes the user's line; a disabled user has a `!` before the hash.
    public func change(_ user: Username, _ changes: UserChanges) async throws(RealmError) {
        try await files.apply(.change(user, changes))
    }

    /// Removes all lines of the user.
    public func remove(_ user: Username) async throws(RealmError) {
        try await files.apply(.remove(user))
    }
}

extension FileRealm: GroupLookupRealm {
    /// Returns all groups that users have.
    public func existingGroups(_ names: [String]) async throws(RealmError) -> [String] {
        try await users().flatMap(\.groups)
    }
}

extension FileRealm: UserFileRealm {
    /// Checks a key file of GlassFish, or an htpasswd file and its group file of at most 64 MiB.
    public static func checkFile(
        _ file: String,
        groupFile: String?,
        format: String?,
        ignoringCase ignoresCase: Bool,
        services: RealmServices,
        progress: (Int) -> Void
    ) throws(RealmError) -> CheckedUserFile {
        var readOptions = ReadOptions()
        readOptions.isCaseSensitive = !ignoresCase
        readOptions.passwords = services[PasswordService.self]
        if let format {
            guard let known = KeyFileFormat(rawValue: format) else {
                throw .invalidOperation("a file realm does not read the format \(format)")
            }
            readOptions.format = known
        }
        return try checkFile(
            file,
            groupFile: groupFile,
            readOptions: readOptions,
            partSize: 1 << 20,
            progress: progress
        )
    }

    static func checkFile(
        _ file: String,
        groupFile: String?,
        readOptions: ReadOptions,
        partSize: Int,
        progress: (Int) -> Void = { _ in }
    ) throws(RealmError) -> CheckedUserFile {
        let (opened, groups) = try FileFault.unavailable { () throws(FileFault) in
            let opened = try OpenedFile(file, partSize: partSize)
            let groups = if let groupFile { try FileSnapshot(reading: groupFile) } else { nil as FileSnapshot? }
            if let groups, let groupFile { try TextLine.checkText(groups.bytes, path: groupFile) }
            return (opened, groups)
        }
        let groupLines = groups.map { GroupFile($0.bytes) }
        var check = UserFileCheck(
            opened,
            groups: groupLines?.groupsByUser(readOptions.key),
            problems: (groupLines?.malformedLines ?? []).map {
                "\(groupFile ?? ""):\($0.line): \(UserLineReader.ignored($0.reason))"
            },
            readOptions: readOptions
        )
        let digest = try opened.read { part throws(RealmError) in
            try check.read(part)
            progress(opened.size > 0 ? part.end * 100 / opened.size : 100)
        }
        let groupWarnings = groupFile.map { FileTrust.findings($0, as: .users).map(\.text) } ?? []
        return CheckedUserFile(
            users: UserFileSource(
                count: check.count,
                file: opened,
                reader: check.lineReader,
                skippedLines: check.skippedLines,
                digest: digest
            ),
            fileWarnings: check.fileWarnings + groupWarnings,
            lineWarnings: check.problems,
            lineWarningCount: check.problemCount
        )
    }
}
