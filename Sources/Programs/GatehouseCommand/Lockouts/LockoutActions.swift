// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Throttle

extension GatehouseOptions.Lockouts.List: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let records = try await LockoutAdministration(options, kinds: kinds, access: .existingOnly).records()
        let now = WallClock.system.seconds
        let shown = records.filter { all || $0.lockout(at: now) != nil }.sorted { $0.newest > $1.newest }
        guard !shown.isEmpty else {
            GatehouseCommand.print(all ? "there are no failed logins" : "nothing is locked", on: STDOUT_FILENO)
            return
        }
        let rows = shown.map { record in
            [
                kind(of: record.key), record.key.description, "\(record.failures)", UTCTime.text(record.newest),
                record.lockout(at: now).map { UTCTime.text($0.end) } ?? "not locked",
            ]
        }
        let table = Table.lines([["kind", "name", "failures", "last", "locked until"]] + rows)
        GatehouseCommand.print(table.joined(separator: "\n"), on: STDOUT_FILENO)
    }

    private func kind(of key: ThrottleKey) -> String {
        switch key {
        case .account: "account"
        case .source: "address"
        }
    }
}

extension GatehouseOptions.Lockouts.Clear: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let lockouts = try LockoutAdministration(options.configuration, kinds: kinds, access: .createIfMissing)
        if let user {
            try await lockouts.clear(user: user, of: options.realm)
        } else if let source {
            try await lockouts.check(source)
            try await lockouts.clear(.one(.source(ClientNetwork(source))))
            GatehouseCommand.print("\(Printable.line(source)) is not locked", on: STDOUT_FILENO)
        } else {
            try await lockouts.clear(.all)
            GatehouseCommand.print("nothing is locked", on: STDOUT_FILENO)
        }
    }
}
