// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Glibc
internal import LentServices
internal import RealmKit
internal import Synchronization
internal import TerminalIO

extension GatehouseOptions.User.Import: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try UserDesk(options, kinds)
        let complaints = Complaints()
        let source = try file(kinds, desk, complaints)
        guard complaints.all.isEmpty || skipBroken else {
            let hint = "nothing is imported; --skip-broken leaves out what cannot be read"
            throw ActionFault(.failed, (complaints.all + [hint]).map(Printable.line).joined(separator: "\n"))
        }
        do throws(RealmError) {
            let users = try await source.exportUsers()
            try await desk.realm.add(all: users)
            desk.say("\(users.count) users imported")
        } catch {
            throw ActionFault(error)
        }
    }

    /// The file as a realm of its own, so that it is read as one that is configured is.
    private func file(
        _ kinds: [RealmKind],
        _ desk: UserDesk,
        _ complaints: Complaints
    ) throws(ActionFault) -> any ManagedRealm {
        guard let kind = kinds.first(where: { $0.classNames.contains("FileRealm") }) else {
            throw ActionFault(.failed, "this program is not linked with FileRealm, which reads such files")
        }
        var services = desk.services
        let lines = file
        services[RealmLog.self] = RealmLog.once { message in
            if Complaints.isAboutALine(message, of: lines)
                || groupFile.map({ Complaints.isAboutALine(message, of: $0) }) == true
            {
                complaints.add(message)
            } else {
                // Such as the file's mode, which changes nothing about who is in it.
                GatehouseCommand.print(Printable.line(message), on: STDERR_FILENO)
            }
        }
        var values: [String: PropertyValue] = ["file": .string(file)]
        if let groupFile { values["group-file"] = .string(groupFile) }
        do throws(BadRealm) {
            let properties = try RealmProperties(
                values,
                schema: kind.properties,
                realmName: desk.realmName,
                services: services
            )
            guard let realm = try kind.makeRealm(properties) as? any ManagedRealm else {
                throw BadRealm("does not give its users away")
            }
            return realm
        } catch {
            throw ActionFault(.failed, "\(Printable.line(file)) cannot be imported: \(error.message)")
        }
    }
}

/// What is wrong with a file.
private final class Complaints: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    /// Whether a message is about one line of a file, as in `users:3: the line is left out`.
    static func isAboutALine(_ message: String, of file: String) -> Bool {
        guard message.hasPrefix("\(file):") else { return false }
        let rest = message.dropFirst(file.count + 1)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        return !digits.isEmpty && rest.dropFirst(digits.count).hasPrefix(":")
    }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
