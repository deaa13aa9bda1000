// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
public import RealmKit
internal import ServerConnections
internal import Workers

extension SQLRealm: UserListingRealm {}

extension SQLRealm: TestableRealm {
    /// Connects to each server, and runs the queries of a login there, or checks them if no user is given.
    public func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async {
        await ServerTest.run(Array(servers.readers.names.indices), report: report) { [self] server in
            test(server, user: user, report: report)
        }
    }

    /// Tests a server; runs on a thread that may block.
    private func test(_ server: Int, user: Username?, report: (BackEndStep) -> Void) {
        let name = servers.readers.names[server]
        let start = MonotonicTime.now
        let call = ServerCall(until: start &+ settings.pool.timeout.nanoseconds)
        do throws(ServerFault) {
            let connection = try servers.readers.connect(server, call)
            defer { connection.close() }
            report(BackEndStep("\(name): connection, \(MonotonicTime.text(since: start))"))
            guard let user else {
                for query in settings.queries.ofLogin {
                    try connection.database.check(query, call: call)
                    report(BackEndStep("\(name): \(query.name.rawValue) can be run"))
                }
                return
            }
            let found = try SQLUsers.find(
                user,
                queries: settings.queries,
                isCaseSensitive: settings.isCaseSensitive,
                connection: connection,
                call: call
            )
            for note in found.notes.dropFirst() { report(BackEndStep("\(name): \(note)")) }
            report(result(found, user: user, server: name))
        } catch {
            report(BackEndStep("\(name): \(error.log)", isFailure: true))
        }
    }

    private func result(_ found: FoundUser, user: Username, server: String) -> BackEndStep {
        guard !found.isAmbiguous else {
            return BackEndStep("\(server): the database has several rows for \(user)", isFailure: true)
        }
        if let problem = found.problem { return BackEndStep("\(server): \(problem)", isFailure: true) }
        guard let account = found.account else {
            return BackEndStep("\(server): there is no user \(user)", isFailure: true)
        }
        if let failure = account.state.failure(at: clock.seconds) {
            return BackEndStep("\(server): user \(account.name): \(failure.code)", isFailure: true)
        }
        let groups = found.groups.isEmpty ? "none" : GroupName.list(found.groups)
        do throws(BadHash) {
            guard let stored = account.stored, let cost = try read(stored)?.hash.cost.description else {
                return BackEndStep("\(server): user \(account.name) has no password", isFailure: true)
            }
            return BackEndStep("\(server): user \(account.name), groups: \(groups); a login computes \(cost)")
        } catch {
            return BackEndStep("\(server): the password of \(account.name) cannot be read: \(error)", isFailure: true)
        }
    }
}
