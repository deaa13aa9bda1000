// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import Testing

struct ConcurrencyTests {
    @Test func `CVE-2019-0217: each of 1000 concurrent logins gets its own principals`() async throws {
        let module = ScriptedModule(
            .run { attempt in
                let name = attempt.username.text
                attempt.updateShared { $0[SharedState.Key("user")] = .text(name) }
                await Task.yield()
                return attempt.commit(groups: ["of \(name)"])
            }
        )
        let check = ScriptedModule(
            .run { attempt in
                await Task.yield()
                let same = attempt.shared.text(SharedState.Key("user")) == attempt.username.text
                return same ? attempt.commit(only: []) : .failed(.internalError)
            },
            commit: .run { attempt in
                attempt.add([.role("role of \(attempt.username)")])
                return .done
            }
        )
        let stack = stack(.required(module), .required(FixedVerdictModule(.success)), .required(check))
        let wrong = await withTaskGroup(of: String?.self) { group in
            for number in 0..<1000 {
                group.addTask {
                    let name = "user\(number)"
                    guard let identity = try? await stack.login(name).identity else { return name }
                    let expected: [Principal] = [
                        .user(name), .group("of \(name)"), .group("g0"), .role("role of \(name)"),
                    ]
                    return identity.subject.principals == expected && identity.username.text == name ? nil : name
                }
            }
            return await group.reduce(into: [String]()) { names, name in
                if let name { names.append(name) }
            }
        }
        #expect(wrong == [])
    }
}
