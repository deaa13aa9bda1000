// SPDX-License-Identifier: Apache-2.0

/// An OpenLDAP server whose changes are sent to further servers.
///
/// A replica keeps the failed logins of its own clients, and refers a client that changes an entry to the provider.
package struct ReplicatedDirectory: Sendable {
    package let provider: SlapdServer
    package let replicas: [SlapdServer]

    /// Starts a provider and its replicas, and waits until they have the same entries.
    ///
    /// - Parameter count: The number of replicas.
    /// - Returns: The running servers.
    /// - Throws: ``NotReached`` if a server does not start, and errors of the file system.
    package static func start(replicas count: Int) async throws -> ReplicatedDirectory {
        var settings = SlapdServer.Settings()
        settings.role = .provider
        let provider = try await SlapdServer(settings)
        settings.role = .replica(of: provider.url)
        var replicas: [SlapdServer] = []
        for _ in 0..<count { replicas.append(try await SlapdServer(settings)) }
        let directory = ReplicatedDirectory(provider: provider, replicas: replicas)
        try await directory.untilInSync()
        return directory
    }

    /// Waits until all replicas have the changes that the provider has made so far.
    ///
    /// - Throws: ``NotReached``, also if a server does not answer.
    package func untilInSync() async throws {
        let goal = try await provider.changeNumber()
        for replica in replicas {
            try await Polling.until("a replica is not in sync: \(replica.received)") {
                try await replica.changeNumber() == goal
            }
        }
    }
}

extension SlapdServer {
    /// Returns the numbers of the last changes (`contextCSN`).
    fileprivate func changeNumber() async throws -> Set<Substring> {
        let finished = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-H", url, "-D", Self.admin.name, "-w", Self.admin.password]
                + ["-b", Self.base, "-s", "base", "contextCSN"]
        )
        guard finished.status == 0 else { throw NotReached("ldapsearch: \(finished.errors)") }
        return Set(finished.output.split(separator: "\n").filter { $0.hasPrefix("contextCSN: ") })
    }
}
