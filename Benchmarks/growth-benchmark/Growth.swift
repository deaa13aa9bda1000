// SPDX-License-Identifier: Apache-2.0

import AccessControl
import BuiltInRealms
import Foundation
import RealmConfiguration
import RealmKit
import Sessions

/// Measures how decisions about guarded requests and look-ups of users grow with the configuration: see docs/performance.md,
/// "Growth".
///
/// With `--check` the status is 1 if a cost that is flat grows by more than half from 10 to 10,000 items, or another cost by
/// more than its limit. `--quick` takes fewer samples.
@main
struct Growth {
    static let sizes = [10, 100, 1_000, 10_000]
    /// The requests of one sample.
    static let requests = 2_000
    /// The samples of each size.
    ///
    /// Sizes alternate, and the least time counts: noise only adds time.
    ///
    /// If a cost has grown by more than its limit, up to ``attempts`` times as many are taken.
    static let samples = CommandLine.arguments.contains("--quick") ? 5 : 15

    private static let attempts = 4

    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "gatehouse-growth-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let hasGrown: Bool
        do {
            hasGrown = try await measure(in: folder)
        } catch {
            try FileManager.default.removeItem(at: folder)
            throw error
        }
        try FileManager.default.removeItem(at: folder)
        if hasGrown, CommandLine.arguments.contains("--check") { exit(1) }
    }

    /// Prints the table.
    ///
    /// - Parameter folder: An empty folder for users.
    /// - Returns: True if a cost has grown by more than its limit.
    /// - Throws: The error of a scenario that cannot be made.
    private static func measure(in folder: URL) async throws -> Bool {
        var hasGrown = false
        print("| what there are many of |" + sizes.map { " \($0) |" }.joined() + " growth |")
        print("|---|" + String(repeating: "--:|", count: sizes.count + 1))
        for subject in subjects(in: folder) {
            let scenarios = try await subject.make()
            var best = [Double](repeating: .infinity, count: scenarios.count)
            // A busy machine needs more samples: only a growth that stays counts.
            for _ in 0..<Self.attempts where !Self.isWithin(subject.limit, best) {
                // The first sample fills caches.
                for scenario in scenarios { _ = await scenario.measure() }
                for _ in 0..<samples {
                    for (index, scenario) in scenarios.enumerated() {
                        best[index] = min(best[index], await scenario.measure())
                    }
                }
            }
            let growth = growth(best)
            let cells = best.map { String(format: " %.0f |", $0) }.joined()
            print("| \(subject.name) |\(cells) \(String(format: "%.2f", growth)) |")
            if let limit = subject.limit, !Self.isWithin(limit, best) {
                hasGrown = true
                FileHandle.standardError.write(Data("\(subject.name): the cost has grown by more than \(limit)\n".utf8))
            }
        }
        print("\nNanoseconds of one decision or look-up: the least of \(samples) samples, each of \(requests).")
        return hasGrown
    }

    private static func growth(_ times: [Double]) -> Double { (times.last ?? 0) / (times.first ?? 1) }

    private static func isWithin(_ limit: Double?, _ times: [Double]) -> Bool {
        guard let first = times.first, first.isFinite else { return false }
        return growth(times) <= limit ?? .infinity
    }

    /// Calls a function, which makes ``requests`` decisions or look-ups.
    ///
    /// - Returns: The processor time of one of them on all threads, in nanoseconds.
    static func time(_ body: () async -> Void) async -> Double {
        let begin = clock()
        await body()
        return Double(clock() - begin) * 1e9 / Double(CLOCKS_PER_SEC) / Double(requests)
    }

    /// Something that there may be many of.
    struct Subject {
        let name: String
        /// The largest growth from 10 to 10,000 that is allowed; nil if the cost is not flat.
        let limit: Double?
        let make: () async throws -> [any Scenario]
    }

    private static func subjects(in folder: URL) -> [Subject] {
        func subject(
            _ name: String,
            limit: Double? = 1.5,
            make: @escaping (Int) async throws -> any Scenario
        ) -> Subject {
            Subject(name: name, limit: limit) {
                var scenarios: [any Scenario] = []
                for size in sizes { scenarios.append(try await make(size)) }
                return scenarios
            }
        }
        return [
            subject("rules for paths") { size in
                try Site((0..<size).map { open("/app\($0)/admin") })
                    .scenario(paths: some(size).map { "/app\($0)/admin/users" })
            },
            subject("rules for hosts") { size in
                try Site((0..<size).map { open("/", at: .name("app\($0).example.org")) })
                    .scenario(hosts: some(size).map { "app\($0).example.org" })
            },
            subject("rules for domains") { size in
                try Site((0..<size).map { open("/", at: .below("d\($0).example.org")) })
                    .scenario(hosts: some(size).map { "www.d\($0).example.org" })
            },
            // How many places of a table are looked at depends on the hashes, which differ in every run.
            subject("realms of the rule", limit: 2) { size in
                try await Site([rule(.any, realms: (1..<size).map { "other\($0)" } + ["any"])]).scenario()
            },
            // The groups of a user are searched by halving.
            subject("groups of the user, last of 5 in the rule", limit: 3) { size in
                let wanted = (0..<4).map { "wanted\($0)" } + ["group\(size - 1)"]
                return try await Site([rule(.groups(wanted))], groups: (0..<size).map { "group\($0)" }).scenario()
            },
            subject("groups of the rule, last of 5 of the user") { size in
                let wanted = (0..<size).map { "wanted\($0)" }
                let groups = (0..<4).map { "group\($0)" } + ["wanted\(size - 1)"]
                return try await Site([rule(.groups(wanted))], groups: groups).scenario()
            },
            subject("users of the rule") { size in
                try await Site([rule(.users((0..<size).map { "user\($0)" } + ["zed"]))]).scenario()
            },
            subject("networks of the rule") { size in
                var rule = rule(.any)
                rule.networks = try (1..<size).map { try CIDRBlock("10.\($0 / 256).\($0 % 256).0/24") }
                rule.networks.append(try CIDRBlock("192.0.2.0/24"))
                return try await Site([rule]).scenario()
            },
            // Memory that is not in the processor's caches takes longer.
            subject("sessions, in turn", limit: 4) { size in
                try await Site([rule(.any)]).scenario(sessions: size)
            },
            subject("cached credentials, in turn", limit: 4) { size in
                try await Site([rule(.any, schemes: [.basic])]).scenario(credentials: size)
            },
            subject("users of a file, in turn", limit: 2) { size in
                try await UserLookup(.file, users: size, in: folder)
            },
            // SQLite searches a tree.
            subject("users of the store, in turn", limit: 2) { size in
                try await UserLookup(.store, users: size, in: folder)
            },
        ]
    }

    enum Failure: Error { case login, request, decision, realm }

    /// Ten numbers below a size.
    ///
    /// Requests for more of them would measure how far the processor's caches reach.
    private static func some(_ size: Int) -> [Int] { (0..<10).map { $0 * (size / 10) + size / 10 - 1 } }

    private static func open(_ path: String, at host: ProtectRule.Host = .any) -> ProtectRule {
        var rule = ProtectRule(path: path, realms: [], schemes: [], requirements: [])
        (rule.host, rule.access) = (host, .open)
        return rule
    }

    private static func rule(
        _ requirement: ProtectRule.Requirement,
        realms: [String] = ["any"],
        schemes: [ProtectRule.Scheme] = [.form]
    ) -> ProtectRule {
        ProtectRule(path: "/", realms: realms, schemes: schemes, requirements: [requirement])
    }
}
