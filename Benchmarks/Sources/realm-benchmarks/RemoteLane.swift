// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import RealmConfiguration
import RealmKit

/// Compares logins through a RemoteRealm with libcurl.
///
/// Both send the same requests to the same server, over as many connections that are kept open. They alternate, and the
/// median of the ratios of all rounds is printed.
struct RemoteLane {
    private struct Fault: Error {}

    private let url: String
    private let authorities: String
    private let curl: String
    private let logins: Int
    private let rounds: Int

    init(_ arguments: [String]) throws {
        guard arguments.count == 5, let logins = Int(arguments[3]), let rounds = Int(arguments[4]) else {
            throw Fault()
        }
        (url, authorities, curl) = (arguments[0], arguments[1], arguments[2])
        (self.logins, self.rounds) = (logins, rounds)
    }

    func run() async throws {
        for connections in [1, 8] {
            let stack = try stack(connections: connections)
            _ = try await time(stack, connections: connections)
            _ = try curlTime(connections: connections)
            var ratios: [Double] = []
            var (own, other) = (Double.infinity, Double.infinity)
            for _ in 0..<rounds {
                let (a, b) = (try await time(stack, connections: connections), try curlTime(connections: connections))
                ratios.append(a / b)
                own = min(own, a)
                other = min(other, b)
            }
            let median = ratios.sorted()[rounds / 2]
            let rates = [own, other].map { String(format: "%.0f", Double(logins) / $0) }
            print(
                "remote, \(connections) at once: RemoteRealm \(rates[0]) logins/s, libcurl \(rates[1]) requests/s, "
                    + "time \(String(format: "%.2f", median)) of libcurl's (median of \(rounds) rounds)"
            )
        }
    }

    private func stack(connections: Int) throws -> LoginStack {
        guard let kind = builtInRealms.first(where: { $0.classNames.contains("RemoteRealm") }),
            let module = kind.modules.first
        else { throw Fault() }
        let words = [
            "url": [url], "ca-file": [authorities], "user-path": ["/user"], "groups-path": ["/groups"],
            "connections": ["\(connections)"],
        ]
        var values: [String: PropertyValue] = [:]
        for (name, words) in words { values[name] = try PropertyValue(words, as: kind.properties[name]?.kind ?? .list) }
        let realm = try kind.makeRealm(RealmProperties(values, schema: kind.properties, realmName: "people"))
        let options = try ModuleOptions(schema: module.options, realmName: "people")
        let made = try module.makeModule(realm: realm, options: options)
        return LoginStack(name: "people", [LoginStack.Entry(made, .required)], clock: SystemClock())
    }

    private func time(_ stack: LoginStack, connections: Int) async throws -> Double {
        let begin = ContinuousClock.now
        let request = LoginRequest(realm: "people", username: try Username("ann"))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<connections {
                let count = logins / connections
                group.addTask {
                    for login in 0..<count {
                        let password = Secret(utf8: "secret \(number) \(login)")
                        let report = await stack.login(
                            request,
                            asking: PreparedConversation(name: "ann", password: password)
                        )
                        guard report.identity?.subject.groups == ["Staff", "Users"] else { throw Fault() }
                    }
                }
            }
            try await group.waitForAll()
        }
        return (ContinuousClock.now - begin) / .seconds(1)
    }

    private func curlTime(connections: Int) throws -> Double {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: curl)
        process.arguments = [url, authorities, "\(logins)", "\(connections)"]
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
