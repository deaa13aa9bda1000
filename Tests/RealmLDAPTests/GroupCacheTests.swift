// SPDX-License-Identifier: Apache-2.0

#if LDAP
import Bytes
import RealmKit
import Synchronization
import Testing
import Workers

@testable import RealmLDAP

struct GroupCacheTests {
    private func groups(_ names: [Int]) -> [DirectoryGroup] {
        names.map { DirectoryGroup(name: "cn=\($0)", key: UTF8Text("cn=\($0)"), group: "\($0)") }
    }

    @Test func `groups and sets of groups are kept until their end`() {
        let cache = GroupCache(.seconds(60))
        let key = UTF8Text("cn=1")
        #expect(cache.groups(of: key) == nil)
        let end = cache.insert(groups([2, 3]), of: key)
        #expect(cache.groups(of: key) == groups([2, 3]))
        #expect(cache.entry(of: key)?.end == end)
        #expect(cache.all(of: key) == nil)
        cache.insert(all: groups([1, 2, 3]), of: key, until: end)
        #expect(cache.all(of: key)?.groups == groups([1, 2, 3]))
        cache.insert(all: groups([1]), of: key, until: MonotonicTime.now)
        #expect(cache.all(of: key) == nil)
        #expect(cache.groups(of: key) == groups([2, 3]))
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
        cache.insert(all: groups([2]), of: UTF8Text("cn=1"), until: .max)
        #expect(cache.groups(of: UTF8Text("cn=1")) == nil)
        #expect(cache.all(of: UTF8Text("cn=1")) == nil)
    }

    @Test func `the number of groups in all sets is limited`() {
        let cache = GroupCache(.seconds(60))
        let many = groups(Array(0..<30_000))
        for number in 0..<3 { cache.insert(all: many, of: UTF8Text("\(number)"), until: .max) }
        #expect((0..<3).allSatisfy { cache.all(of: UTF8Text("\($0)")) != nil })
        cache.insert(all: many, of: UTF8Text("0"), until: .max)
        #expect(cache.all(of: UTF8Text("1")) != nil)
        cache.insert(all: many, of: UTF8Text("3"), until: .max)
        #expect((0..<4).filter { cache.all(of: UTF8Text("\($0)")) != nil } == [3])
    }
}
#endif
