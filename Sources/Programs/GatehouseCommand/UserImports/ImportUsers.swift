// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Files
internal import Glibc
internal import Passwords
internal import RealmConfiguration
internal import RealmKit
internal import Synchronization

extension GatehouseOptions.User {
    struct Import: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import",
            abstract: "Import the users of a file, with their passwords and groups.",
            discussion: """
                The file is a GlassFish key file, an htpasswd file, a users_database.yml of Authelia, an export of a realm \
                of Keycloak, a tomcat-users.xml, a realm.properties of Jetty, or a users.properties of WildFly. If a user \
                cannot be read, or already exists, no user is imported.
                """
        )
        @OptionGroup var options: RealmOptions
        @Option(
            help: ArgumentHelp(
                "The group file of an htpasswd file, or the file of groups or roles of WildFly.",
                valueName: "file"
            ),
            completion: .file()
        )
        var groupFile: String?
        @Option(
            help: ArgumentHelp(
                "The format: \(ImportFormat.names). Without it, the name or the content of the file decides.",
                valueName: "format"
            )
        )
        var format: ImportFormat?
        @Option(
            name: .customLong("algorithm"),
            help: ArgumentHelp(
                "The algorithm of a CredentialHandler of Tomcat, such as SHA-256 or PBKDF2WithHmacSHA512; repeatable.",
                valueName: "name"
            )
        )
        var algorithms: [TomcatAlgorithm] = []
        @Flag(
            help:
                "Skip users that cannot be read, and import users without a password if only that cannot be taken over."
        )
        var skipBroken = false
        @Argument(help: "The file.", completion: .file()) var file: String
    }
}

extension GatehouseOptions.User.Import: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws {
        let format = try checkedFormat()
        let administration = try UserAdministration(options, kinds: kinds)
        let source: any UserSource =
            switch format {
            case nil, .htpasswd, .glassfish:
                try await fileUsers(kinds, format: format, for: administration)
            case .authelia: try await productUsers(.authelia, AutheliaUsers.read, for: administration)
            case .keycloak: try await productUsers(.keycloak, KeycloakUsers.read, for: administration)
            case .tomcat: try await productUsers(.tomcat, TomcatUsers(algorithms: algorithms).read, for: administration)
            case .jetty: try await productUsers(.jetty, JettyUsers.read, for: administration)
            case .wildfly:
                try await productUsers(.wildfly, WildFlyUsers(roles: try roleFile()).read, for: administration)
            }
        let users = CountedUsers(source)
        try await ProgressLine.during("importing users") { line in
            line.begin("importing users", of: users.count)
            try await administration.realm.add(from: users) { line.report($0) }
        }
        for note in users.notes { GatehouseCommand.print("\(Printable.line(file)): \(note)", on: STDERR_FILENO) }
        let withoutPassword = users.withoutPassword
        administration.report(
            users.count == 1 ? "1 user imported" : "\(users.count) users imported",
            note: withoutPassword > 0 ? "\(withoutPassword) without a password" : nil
        )
    }

    /// Returns the format; nil if the lines of the file decide.
    private func checkedFormat() throws -> ImportFormat? {
        let format = format ?? ImportFormat(file, beginning: ImportFormat.beginning(of: file))
        guard algorithms.isEmpty || format == .tomcat else {
            throw CommandError(.usage, "--algorithm is for --format tomcat only")
        }
        switch format {
        case nil, .htpasswd, .wildfly: break
        case .glassfish, .authelia, .keycloak, .tomcat, .jetty:
            guard groupFile == nil else {
                throw CommandError(.usage, "--group-file is for htpasswd files and for --format wildfly only")
            }
        }
        return format
    }

    // MARK: Files of a realm

    private func fileUsers(
        _ kinds: [RealmKind],
        format: ImportFormat?,
        for administration: UserAdministration
    ) async throws -> any UserSource {
        guard let type = kinds.lazy.compactMap({ $0.type as? any UserFileRealm.Type }).first else {
            throw CommandError(.failed, "this program contains no realm that reads files of users")
        }
        let (file, groupFile, services) = (file, groupFile, administration.configuration.services)
        let ignoresCase = administration.realm.ignoresCase
        let checked: CheckedUserFile
        do throws(RealmError) {
            checked = try await ProgressLine.during("checking users") { (line) throws(RealmError) in
                line.begin("checking users", of: 100)
                return try type.checkFile(
                    file,
                    groupFile: groupFile,
                    format: format?.rawValue,
                    ignoringCase: ignoresCase,
                    services: services
                ) { line.report($0) }
            }
        } catch {
            let advice = format?.advice(beginning: ImportFormat.beginning(of: file)).map { "; \($0)" } ?? ""
            throw CommandError(.failed, "\(Printable.line(file)) cannot be imported: \(error.message)\(advice)")
        }
        // Warnings about the whole file, such as its mode, do not prevent the import.
        for warning in checked.fileWarnings { GatehouseCommand.print(Printable.line(warning), on: STDERR_FILENO) }
        try report(
            checked.lineWarnings,
            of: checked.lineWarningCount,
            remedy: "--skip-broken skips lines that cannot be read"
        )
        return checked.users
    }

    // MARK: Files of other products

    private func productUsers(
        _ format: ImportFormat,
        _ read: (_ bytes: [UInt8], _ name: String) throws(BadUserFile) -> ImportedUsers,
        for administration: UserAdministration
    ) async throws -> any UserSource {
        let contents = try contents(of: file)
        let imported: ImportedUsers
        do throws(BadUserFile) {
            let users = try read(contents.bytes, file)
            imported = administration.realm.ignoresCase ? users.ignoringCase() : users
        } catch {
            let advice = format.advice(beginning: Array(contents.bytes.prefix(4096))).map { "; \($0)" } ?? ""
            throw CommandError(.failed, "\(Printable.line(error.description))\(advice); nothing was imported")
        }
        let checked = try await ProgressLine.during("checking users") { line in
            line.begin("checking users", of: imported.users.count)
            return try await ProductImport(imported, for: administration) { line.report($0) }
        }
        let costWarning = checked.costWarning(longestCheck: administration.passwords.longestCheck)
        for warning in contents.warnings + [costWarning].compactMap(\.self) + checked.imported.omissions {
            GatehouseCommand.print(Printable.line(warning), on: STDERR_FILENO)
        }
        let problems = checked.imported.problems + checked.passwordProblems
        try report(
            skipBroken ? problems : Array(problems.prefix(CheckedUserFile.maximumWarnings)),
            of: checked.imported.problemCount + checked.passwordProblems.count,
            remedy: "--skip-broken skips users that cannot be read, and imports the others without these passwords"
        )
        return UserArray(checked.users)
    }

    private func roleFile() throws -> (bytes: [UInt8], name: String)? {
        guard let groupFile else { return nil }
        return (try contents(of: groupFile).bytes, groupFile)
    }

    private func contents(of file: String) throws -> FileContents {
        try Result { () throws(UnreadableFile) in
            try FileContents(file, as: .passwordHashes, limit: 64 << 20, mayGrow: false)
        }.mapError { CommandError(.failed, "\(Printable.line(file)) cannot be imported: \($0.reason)") }.get()
    }

    /// Prints the problems of lines or users if they are skipped; otherwise throws them.
    private func report(_ problems: [String], of count: Int, remedy: String) throws {
        var lines = problems
        if count > lines.count { lines.append("\(count - lines.count) more lines have problems") }
        guard count > 0, !skipBroken else {
            for line in lines { GatehouseCommand.print(Printable.line(line), on: STDERR_FILENO) }
            return
        }
        lines.append("nothing was imported; \(remedy)")
        throw CommandError(.failed, lines.map(Printable.line).joined(separator: "\n"))
    }
}

/// Users who are added to a realm, counted while they are added.
private final class CountedUsers: UserSource {
    private struct Counts {
        var withoutPassword = 0
        var disabled = 0
        /// The numbers of hashes of which other programs ignore the end of a longer password, by format and length.
        var truncating: [String: (count: Int, length: Int)] = [:]

        mutating func add(_ user: NewUser) {
            guard let hash = user.hash else {
                withoutPassword += 1
                return
            }
            if !user.record.isEnabled { disabled += 1 }
            // Most hashes are of other formats: bcrypt has $2 near its beginning, and DES 13 characters.
            let isCandidate = hash.prefix(16).contains("$2") || hash.utf8.count <= 24
            guard isCandidate, let stored = try? StoredPassword(hash), let length = stored.hash.truncatesAfter else {
                return
            }
            truncating[stored.hash.cost.format, default: (0, length)].count += 1
        }
    }

    private let users: any UserSource
    private let counts = Mutex(Counts())

    init(_ users: any UserSource) { self.users = users }

    var count: Int { users.count }
    var withoutPassword: Int { counts.withLock(\.withoutPassword) }

    func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError) {
        counts.withLock { $0 = Counts() }
        try users.read { batch throws(RealmError) in
            counts.withLock { counts in for user in batch { counts.add(user) } }
            try body(batch)
        }
    }

    var notes: [String] {
        let counts = counts.withLock(\.self)
        var notes = counts.truncating.sorted { $0.key < $1.key }.map { format, found in
            "\(found.count) \(found.count == 1 ? "user has a hash" : "users have hashes") of \(format), which is computed "
                + "from the first \(found.length) bytes of a password: a longer password is refused, unless the realm has "
                + "truncated-passwords true (docs/passwords.md)"
        }
        if count > 0, counts.withoutPassword + counts.disabled == count {
            notes.append("no user of this file can sign in: all are disabled or without a password")
        }
        return notes
    }
}
