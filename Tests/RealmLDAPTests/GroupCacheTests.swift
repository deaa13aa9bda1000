// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Bytes
import RealmKit
import Synchronization
import Testing

@testable import RealmLDAP

struct GroupCacheTests {
    private func groups(_ names: [Int]) -> [DirectoryGroup] {
        names.map { DirectoryGroup(name: "cn=\($0)", key: UTF8Text("cn=\($0)"), group: "\($0)") }
    }

    @Test func `groups are kept until their end`() {
        let time = Atomic<UInt64>(1_000_000_000)
        let cache = GroupCache(.seconds(60)) { time.load(ordering: .relaxed) }
        let key = UTF8Text("cn=1")
        #expect(cache.groups(of: key) == nil)
        cache.insert(groups([2, 3]), of: key)
        time.add(59_000_000_000, ordering: .relaxed)
        #expect(cache.groups(of: key) == groups([2, 3]))
        time.add(1_000_000_000, ordering: .relaxed)
        #expect(cache.groups(of: key) == nil)
    }

    @Test func `without a time nothing is kept`() {
        let cache = GroupCache(.zero)
        cache.insert(groups([2]), of: UTF8Text("cn=1"))
        #expect(cache.groups(of: UTF8Text("cn=1")) == nil)
    }
}
#endif
