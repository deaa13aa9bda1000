// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import CommandOptions
internal import Foundation
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store
internal import TerminalIO
internal import Throttle

extension GatehouseOptions.Lockouts.List: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try LockoutDesk(options, kinds, .look)
        let records = try await desk.records()
        let now = WallClock.system.seconds
        let shown = records.filter { all || $0.lockout(at: now) != nil }.sorted { $0.newest > $1.newest }
        guard !shown.isEmpty else {
            GatehouseCommand.print(all ? "nothing has failed lately" : "nothing is locked", on: STDOUT_FILENO)
            return
        }
        let rows = shown.map { record in
            [
                kind(record.key), record.key.description, "\(record.failures)", Self.time(record.newest),
                end(record, now),
            ]
        }
        let table = Table.lines([["what", "who", "failures", "last", "locked until"]] + rows)
        GatehouseCommand.print(table.joined(separator: "\n"), on: STDOUT_FILENO)
    }

    private func kind(_ key: ThrottleKey) -> String {
        switch key {
        case .account: "account"
        case .source: "address"
        }
    }

    private func end(_ record: ThrottleRecord, _ now: Int) -> String {
        record.lockout(at: now).map { Self.time($0.end) } ?? "not locked"
    }

    private static func time(_ seconds: Int) -> String {
        Date(timeIntervalSince1970: TimeInterval(seconds)).formatted(.iso8601)
    }
}

extension GatehouseOptions.Lockouts.Clear: Action {
    func perform(_ kinds: [RealmKind]) async throws(ActionFault) {
        let desk = try LockoutDesk(options.configuration, kinds, .make)
        if let user {
            try await desk.clear(user: user, of: options.realm)
        } else if let source {
            try await desk.check(source)
            try await desk.clear(.one(.source(Source(source))))
            GatehouseCommand.print("\(Printable.line(source)) is not locked", on: STDOUT_FILENO)
        } else {
            try await desk.clear(.all)
            GatehouseCommand.print("nothing is locked", on: STDOUT_FILENO)
        }
    }
}
