// SPDX-License-Identifier: Apache-2.0

import Foundation
import Passwords
import RealmConfiguration
import RealmKit

/// Compares logins through a realm with a plain client that does the same.
///
/// The client is a program. Its last two arguments are the number of logins and the number at once, and it prints its
/// time in seconds. Both alternate, and the median of the ratios of all rounds is printed.
struct ClientLane {
    private struct Fault: Error {}

    private let label: String
    private let kind: RealmKind
    private let logins: Int
    private let rounds: Int
    private let atOnce: Int
    /// The number of users: `ann`, `user1`, `user2` and so on.
    private let users: Int
    /// The least number of groups that every user has.
    private let groups: Int
    private let client: [String]
    private let properties: [String]

    /// - Parameters:
    ///   - arguments: Label, class of the realm, logins, rounds, logins at once, users, groups of each user, the words of
    ///     the client, `--`, and properties as `name=value`.
    ///   - kinds: The types of realms.
    /// - Throws: An error if the arguments are not complete.
    init(_ arguments: [String], kinds: [RealmKind]) throws {
        let parts = arguments.split(separator: "--", omittingEmptySubsequences: false).map(Array.init)
        guard parts.count == 2, parts[0].count > 7,
            let kind = kinds.first(where: { $0.classNames.contains(parts[0][1]) })
        else { throw Fault() }
        let numbers = parts[0][2..<7].compactMap { Int($0) }
        guard numbers.count == 5 else { throw Fault() }
        label = parts[0][0]
        self.kind = kind
        (logins, rounds, atOnce, users, groups) = (numbers[0], numbers[1], numbers[2], numbers[3], numbers[4])
        client = Array(parts[0][7...])
        properties = parts[1]
    }

    func run() async throws {
        let stack = try stack()
        _ = try await time(stack)
        _ = try clientTime()
        var (own, other, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<rounds {
            own.append(try await time(stack))
            other.append(try clientTime())
            ratios.append(own[own.count - 1] / other[other.count - 1])
        }
        let rates = [own, other].map { String(format: "%.0f", Double(logins) / median($0)) }
        print(
            "\(label), \(atOnce) at once: \(kind.classNames[0]) \(rates[0]) logins/s, plain client \(rates[1])/s, "
                + "time \(String(format: "%.2f", median(ratios))) of the client's (medians of \(rounds) rounds)"
        )
    }

    private func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private func stack() throws -> LoginStack {
        guard let module = kind.modules.first else { throw Fault() }
        var values: [String: PropertyValue] = [:]
        for property in properties {
            let parts = property.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2, let kind = kind.properties[parts[0]]?.kind else { throw Fault() }
            values[parts[0]] = try PropertyValue([parts[1]], as: kind)
        }
        let realm = try kind.makeRealm(
            RealmProperties(values, schema: kind.properties, realmName: "people", services: try Self.services)
        )
        let options = try ModuleOptions(schema: module.options, realmName: "people")
        let made = try module.makeModule(realm: realm, options: options)
        return LoginStack(name: "people", [LoginStack.Entry(made, .required)], clock: SystemClock())
    }

    /// The services of realms with stored passwords.
    private static var services: RealmServices {
        get throws {
            let pool = HashingPool(HashingSettings(workers: 2)) { SystemClock().now }
            var services = RealmServices()
            services[PasswordService.self] = try PasswordService(policy: .standard, pool: pool)
            services[WallClock.self] = .system
            return services
        }
    }

    private func time(_ stack: LoginStack) async throws -> Double {
        let begin = ContinuousClock.now
        let count = logins / atOnce
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<atOnce {
                group.addTask {
                    for login in 0..<count {
                        let place = (task * count + login) % users
                        let name = place == 0 ? "ann" : "user\(place)"
                        let request = LoginRequest(realm: "people", username: try Username(name))
                        let conversation = PreparedConversation(name: name, password: Secret(utf8: "lilac"))
                        let report = await stack.login(request, asking: conversation)
                        guard let identity = report.identity, identity.subject.groups.count >= groups else {
                            print(report.steps.map { "\($0)" }.joined(separator: "\n"))
                            throw Fault()
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - begin) / .seconds(1)
    }

    private func clientTime() throws -> Double {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: client[0])
        process.arguments = client.dropFirst() + ["\(logins)", "\(atOnce)"]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0, let seconds = Double(text.filter { !$0.isWhitespace }) else {
            throw Fault()
        }
        return seconds
    }
}
