// SPDX-License-Identifier: Apache-2.0

import Passwords
import RealmKit
import Testing

@Suite struct ConcurrentHashTests {
    @Test func `one hash may be checked by several tasks at the same time`() async throws {
        let vectors = HashVector.all.filter { !$0.isCostly }
        let hashes = try vectors.map { (try $0.read(), $0.secret) }
        let wrong = Secret(utf8: "xyz")
        let answers = await withTaskGroup(of: [Bool].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    hashes.map { hash, right in
                        (try? hash.matches(right)) == true && (try? hash.matches(wrong)) == false
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(answers.count == 4 * vectors.count)
        #expect(answers.allSatisfy { $0 })
    }
}
