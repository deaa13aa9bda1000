// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandSupport
internal import Glibc
internal import HostServices
internal import RealmKit

extension GatehouseOptions.User.Import: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let administration = try UserAdministration(options, kinds: kinds)
        let source = try source(kinds, for: administration)
        // Warnings about the whole file, such as its mode, do not prevent the import.
        for warning in source.fileWarnings { GatehouseCommand.print(Printable.line(warning), on: STDERR_FILENO) }
        let problems = source.lineWarnings
        guard problems.isEmpty || skipBroken else {
            var lines = Array(problems.prefix(Self.maximumShown))
            if problems.count > lines.count { lines.append("\(problems.count - lines.count) more lines have problems") }
            lines.append("nothing was imported; --skip-broken skips lines that cannot be read")
            throw CommandError(.failed, lines.map(Printable.line).joined(separator: "\n"))
        }
        do throws(RealmError) {
            let users = try await source.exportUsers()
            try await administration.realm.add(all: users)
            administration.report("\(users.count) users imported")
        } catch {
            throw CommandError(error)
        }
    }

    /// The maximum number of problems that are printed; if there are more, their number is printed too.
    private static let maximumShown = 20

    /// Returns a realm with the users of the file.
    ///
    /// It reads the file as a configured realm does.
    private func source(
        _ kinds: [RealmKind],
        for administration: UserAdministration
    ) throws(CommandError) -> any UserFileRealm {
        guard let type = kinds.lazy.compactMap({ $0.type as? any UserFileRealm.Type }).first else {
            throw CommandError(.failed, "this program contains no realm that reads files of users")
        }
        var services = administration.services
        // The realm logs the same warnings as it returns, so its log is discarded.
        services[RealmLog.self] = RealmLog.discarding
        do throws(BadRealm) {
            let properties = try RealmProperties(
                type.propertyValues(file: file, groupFile: groupFile),
                schema: type.properties,
                realmName: administration.realmName,
                services: services
            )
            return try type.init(properties)
        } catch {
            throw CommandError(.failed, "\(Printable.line(file)) cannot be imported: \(error.message)")
        }
    }
}
