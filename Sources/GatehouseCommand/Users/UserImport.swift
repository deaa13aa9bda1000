// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import Glibc
internal import RealmKit
internal import UserImports

extension GatehouseOptions.User.Import: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let format = try checkedFormat()
        let administration = try UserAdministration(options, kinds: kinds)
        let users: any UserSource =
            switch format {
            case nil, .htpasswd, .glassfish:
                try await fileUsers(kinds, format: format, for: administration)
            case .authelia: try await productUsers(.authelia, for: administration)
            case .keycloak: try await productUsers(.keycloak, for: administration)
            case .tomcat: try await productUsers(.tomcat(algorithms), for: administration)
            }
        do throws(RealmError) {
            try await ProgressLine.during("importing users") { (line) throws(RealmError) in
                line.begin("importing users", of: users.count)
                try await administration.realm.add(from: users) { line.report($0) }
            }
        } catch {
            throw CommandError(error)
        }
        administration.report(users.count == 1 ? "1 user imported" : "\(users.count) users imported")
    }

    /// Returns the format; nil if the content of the file decides.
    private func checkedFormat() throws(CommandError) -> ImportFormat? {
        let format = format ?? ImportFormat(endingOf: file)
        guard algorithms.isEmpty || format == .tomcat else {
            throw CommandError(.usage, "--algorithm is for --format tomcat only")
        }
        switch format {
        case nil, .htpasswd: break
        case .glassfish, .authelia, .keycloak, .tomcat:
            guard groupFile == nil else { throw CommandError(.usage, "--group-file is for htpasswd files only") }
        }
        return format
    }

    // MARK: Files of a realm

    /// Reads and checks a key file or an htpasswd file.
    private func fileUsers(
        _ kinds: [RealmKind],
        format: ImportFormat?,
        for administration: UserAdministration
    ) async throws(CommandError) -> any UserSource {
        guard let type = kinds.lazy.compactMap({ $0.type as? any UserFileRealm.Type }).first else {
            throw CommandError(.failed, "this program contains no realm that reads files of users")
        }
        let (file, groupFile, services) = (file, groupFile, administration.services)
        let checked: CheckedUserFile
        do throws(RealmError) {
            checked = try await ProgressLine.during("checking users") { (line) throws(RealmError) in
                line.begin("checking users", of: 100)
                return try type.checkFile(file, groupFile: groupFile, format: format?.rawValue, services: services) {
                    line.report($0)
                }
            }
        } catch {
            throw CommandError(.failed, "\(Printable.line(file)) cannot be imported: \(error.message)")
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

    /// Reads and checks a file of another product.
    private func productUsers(
        _ format: UserImportFormat,
        for administration: UserAdministration
    ) async throws(CommandError) -> any UserSource {
        let contents: ImportFile
        let imported: ImportedUsers
        do throws(ImportFile.Fault) {
            contents = try ImportFile(file)
        } catch {
            throw CommandError(.failed, "\(Printable.line(file)) cannot be imported: \(error.reason)")
        }
        do throws(BadUserFile) {
            imported = try format.read(contents.bytes, name: file)
        } catch {
            throw CommandError(.failed, "\(Printable.line(error.description)); nothing was imported")
        }
        let checked = try await ProgressLine.during("checking users") { (line) throws(CommandError) in
            line.begin("checking users", of: imported.users.count)
            return try await ProductImport(imported, for: administration) { line.report($0) }
        }
        for warning in contents.warnings + [checked.costWarning].compactMap(\.self) + checked.omissions {
            GatehouseCommand.print(Printable.line(warning), on: STDERR_FILENO)
        }
        let problems = checked.problems + checked.passwordProblems
        try report(
            skipBroken ? problems : Array(problems.prefix(CheckedUserFile.maximumWarnings)),
            of: checked.problemCount + checked.passwordProblems.count,
            remedy: "--skip-broken skips users that cannot be read, and imports the others without these passwords"
        )
        return UserArray(checked.users)
    }

    /// Prints the problems of lines or users if they are skipped; otherwise throws them.
    private func report(_ problems: [String], of count: Int, remedy: String) throws(CommandError) {
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
