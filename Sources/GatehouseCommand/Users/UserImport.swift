// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Glibc
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
        services[RealmLog.self] = RealmLog { _, message in complaints.add(message) }
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

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
