// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Passwords
public import RealmKit
internal import ServerConnections
internal import Workers

extension SQLRealm {
    /// The name for the queries of a check; no user has it, because user names contain no control characters.
    fileprivate static let probe = "\u{1}gatehouse"

    /// Checks the queries with a server that answers, on a thread of its own, and throws if the database rejects one.
    func checkAtLoad() throws(BadRealm) {
        let result = Monitor<Result<[String], ServerFault>?>(nil)
        let end = MonotonicTime.now &+ (settings.limits.connect + settings.limits.query).nanoseconds
        let check = LoadCheck(servers: servers, queries: settings.queries, end: end)
        let hasBegun = WorkerThread.start(niceness: 0) {
            let outcome = Result { () throws(ServerFault) in try check.run() }
            result.withLock { $0 = outcome }
            result.wakeAll()
        }
        let late = ServerFault(.timedOut, "no answer in time")
        let outcome = hasBegun ? result.wait(until: end) { $0 } ?? .failure(late) : .failure(late)
        switch outcome {
        case .success(let stored): learn(stored)
        case .failure(let fault) where fault.code == .failed: throw BadRealm(fault.log)
        case .failure(let fault):
            let problem = "the queries were not checked, because the database does not answer"
            log("realm \(name): \(problem): \(fault.log)", .warning)
        }
    }

    /// Learns the costs of some stored hashes.
    private func learn(_ stored: [String]) {
        var unreadable = 0
        var truncating: Set<Int> = []
        for text in stored {
            do throws(BadHash) {
                guard let hash = try read(text)?.hash else { continue }
                learn(hash)
                if let count = hash.truncatesAfter, count < 64 { truncating.insert(count) }
            } catch {
                unreadable += 1
            }
        }
        if let count = truncating.min(), !settings.formatOptions.acceptsTruncated {
            log(
                "realm \(name): there are hashes of the first \(count) bytes of a password, so a longer password is "
                    + "refused; truncated-passwords true accepts it once, and then replaces the hash",
                .warning
            )
        }
        guard unreadable > 0, unreadable == stored.count else { return }
        let advice = settings.digests == nil ? "; if they are plain digests, set digest-algorithm and encoding" : ""
        log("realm \(name): none of the first \(stored.count) stored passwords can be read\(advice)", .warning)
    }
}

/// A check of the queries of a realm, with the first server that answers, which returns some stored passwords.
private struct LoadCheck: Sendable {
    let servers: SQLServers
    let queries: SQLQueries
    let end: UInt64

    func run() throws(ServerFault) -> [String] {
        let stored = try withServer(of: servers.readers) { (connection, call) throws(ServerFault) -> [String] in
            let values = try SQLValues(user: SQLRealm.probe)
            for query in queries.ofLogin {
                let rows = try connection.database.run(query, values: values, call: call)
                guard !rows.isIncomparable else { continue }
                switch query.name {
                case .password, .state: try SQLAccount.check(rows.columns, query: query)
                case .groups: try SQLQueries.checkGroups(rows, query: query)
                case .attributes, .updatePassword, .list: break
                }
            }
            if let list = queries.list { try connection.database.check(list, call: call) }
            guard let sample = queries.sample else { return [] }
            return try connection.database.run(sample, values: values, call: call).rows.compactMap { $0.first ?? nil }
        }
        if let update = queries.updatePassword {
            do throws(ServerFault) {
                try withServer(of: servers.writers) { (connection, call) throws(ServerFault) in
                    try connection.database.check(update, call: call)
                }
            } catch {
                // Users can sign in while there is no primary server.
                if error.code == .failed { throw error }
            }
        }
        return stored
    }

    private func withServer<Value>(
        of servers: Servers<SQLConnection>,
        _ body: (SQLConnection, ServerCall) throws(ServerFault) -> Value
    ) throws(ServerFault) -> Value {
        var last = ServerFault(.unreachable, "there is no server")
        for server in servers.names.indices {
            let call = ServerCall(until: end)
            do throws(ServerFault) {
                let connection = try servers.connect(server, call)
                defer { connection.close() }
                return try body(connection, call)
            } catch {
                last = ServerFault(error.code, "\(servers.names[server]): \(error.log)")
                guard error.isOfOneServer else { throw last }
            }
        }
        throw last
    }
}

extension SQLRealm: TestableRealm {
    /// Connects to each server, and runs the queries of a login there, or checks them if no user is given.
    public func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async {
        await ServerTest.run(Array(servers.readers.names.indices), report: report) { [self] server in
            test(server, user: user, report: report)
        }
    }

    /// Runs on a thread that may block.
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
            let found = try settings.queries.find(user, on: connection, call: call)
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
