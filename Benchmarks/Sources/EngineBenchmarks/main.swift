// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import BuiltInRealms
import RealmConfiguration
import RealmKit

let clock = SystemClock()

func stack(_ count: Int) throws -> LoginStack {
    let kind = builtInRealms[1]
    let realm = try kind.makeRealm(RealmProperties(schema: kind.properties, realmName: "x"))
    let module = kind.modules[0]
    let entries = try (0..<count).map { _ in
        LoginStack.Entry(
            try module.makeModule(realm: realm, options: ModuleOptions(schema: module.options, realmName: "x")),
            .required
        )
    }
    return LoginStack(name: "x", entries, clock: clock)
}

func measure(_ name: String, _ rounds: Int, _ body: () async -> Bool) async throws {
    var best: [Double] = []
    for _ in 0..<7 {
        let begin = clock.now
        var granted = 0
        for _ in 0..<rounds {
            if await body() { granted += 1 }
        }
        precondition(granted == rounds)
        best.append(Double(rounds) / Double(clock.now - begin) * 1000)
    }
    best.sort()
    print(name, "M/s median", best[3], "min", best[0], "max", best[6])
}
func bench() async throws {
let conversation = PreparedConversation()
    let zed = try Username("zed")
for count in [1, 4] {
    let stack = try stack(count)
    try await measure("now \(count)", 300_000) { stack.loginNow(LoginRequest(realm: "x", username: zed, service: "bench"))?.identity != nil }
    try await measure("async \(count)", 300_000) { await stack.login(LoginRequest(realm: "x", username: zed, service: "bench"), asking: conversation).identity != nil }
}
}
try await bench()
