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
        let cache = GroupCache(.seconds(60))
        let key = UTF8Text("cn=1")
        #expect(cache.groups(of: key) == nil)
        let end = cache.insert(groups([2, 3]), of: key)
        #expect(cache.groups(of: key) == groups([2, 3]))
        #expect(cache.entry(of: key)?.end == end)
    }

    @Test func `an entry is due in the second half of its time, for one renewal at a time`() throws {
        let time = Atomic<UInt64>(1_000_000_000)
        let cache = GroupCache(.seconds(60)) { time.load(ordering: .relaxed) }
        func pass(_ seconds: UInt64) { time.add(seconds * 1_000_000_000, ordering: .relaxed) }
        let key = UTF8Text("cn=1")
        cache.insert(groups([2]), of: key)
        let entry = try #require(cache.entry(of: key))
        #expect(!cache.isDue(entry))
        pass(29)
        #expect(!cache.isDue(entry))
        pass(2)
        #expect(cache.isDue(entry))
        #expect(cache.beginRenewal())
        #expect(!cache.beginRenewal())
        cache.endRenewal(hasFailed: true)
        #expect(!cache.beginRenewal())
        pass(14)
        #expect(!cache.beginRenewal())
        pass(2)
        #expect(cache.beginRenewal())
        cache.endRenewal(hasFailed: false)
        #expect(cache.beginRenewal())
        #expect(!GroupCache(.zero).isDue(GroupCache.Entry(groups: [], end: 0)))
    }

    @Test func `without a time nothing is kept`() {
        let cache = GroupCache(.zero)
        cache.insert(groups([2]), of: UTF8Text("cn=1"))
        #expect(cache.groups(of: UTF8Text("cn=1")) == nil)
    }
}
#endif
