// SPDX-License-Identifier: Apache-2.0

import RealmKit
import RealmTesting
import SeededRandom
import Synchronization
import Testing

@testable import Sessions

/// Tests that compare random operations on a session table with a simple model.
struct SessionModelTests {
    private struct ModelSession {
        let user: String
        let session: Session
        let token: OpaqueToken
        let created: Int
        var seen: Int
        /// The number of the last use, which orders uses in the same second.
        var useNumber: Int
        var end: SessionEndCause?
    }

    private struct Model {
        let (idle, absolute, perUser, total): (Int, Int, Int, Int)
        var all: [ModelSession] = []
        var useNumber = 0

        func isLive(_ known: ModelSession, _ now: Int) -> Bool {
            known.end == nil && now < known.seen + idle && now < known.created + absolute
        }

        func live(_ now: Int) -> [Int] { all.indices.filter { isLive(all[$0], now) } }

        mutating func sweep(_ now: Int) {
            for index in all.indices where all[index].end == nil && !isLive(all[index], now) {
                let known = all[index]
                all[index].end = known.created + absolute <= known.seen + idle ? .absolute : .idle
            }
        }

        mutating func touch(_ index: Int, _ now: Int) {
            useNumber += 1
            all[index].seen = now
            all[index].useNumber = useNumber
        }
    }

    @Test(arguments: 0..<30)
    func `random operations give the same result as a model, and the store contains the live sessions`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        var model = Model(
            idle: 5 + random.below(60),
            absolute: 20 + random.below(200),
            perUser: 1 + random.below(4),
            total: 3 + random.below(10)
        )
        let (idle, absolute, perUser, total) = (model.idle, model.absolute, model.perUser, model.total)
        let store = MemoryStore()
        let fixture = SessionFixture(
            {
                $0.idle = .seconds(idle)
                $0.absolute = .seconds(absolute)
                $0.perUser = perUser
                $0.total = total
            },
            store: store
        )
        var now = 0
        for _ in 0..<400 {
            // The order of two uses at the same time is not defined.
            let pause = 1 + (random.below(4) == 0 ? random.below(30) : 0)
            now += pause
            fixture.pass(pause)
            let live = model.live(now)
            switch random.below(7) {
            case 0, 1:
                let user = "user\(random.below(5))"
                let replaced = live.isEmpty || random.below(3) > 0 ? nil : random.pick(live)
                var ending = Set([replaced].compactMap(\.self))
                let own = live.filter { model.all[$0].user == user && !ending.contains($0) }
                let tooMany = own.sorted { model.all[$0].useNumber < model.all[$1].useNumber }
                    .prefix(max(0, own.count + 1 - perUser))
                ending.formUnion(tooMany)
                if live.count - ending.count < total {
                    let begun = try await fixture.begin(user, replacing: replaced.map { model.all[$0].session })
                    model.sweep(now)
                    if let replaced { model.all[replaced].end = .replaced }
                    for index in tooMany { model.all[index].end = .tooManySessions }
                    model.useNumber += 1
                    model.all.append(
                        ModelSession(
                            user: user,
                            session: begun.session,
                            token: begun.token,
                            created: now,
                            seen: now,
                            useNumber: model.useNumber
                        )
                    )
                } else {
                    await #expect(throws: SessionFault.full) {
                        _ = try await fixture.begin(user, replacing: replaced.map { model.all[$0].session })
                    }
                }
            case 2, 3, 4:
                guard !model.all.isEmpty else { continue }
                let index = random.below(model.all.count)
                let isActivity = random.below(2) == 0
                let found = fixture.table.session(
                    model.all[index].token,
                    at: SessionFixture.host,
                    isActivity: isActivity
                )
                #expect((found === model.all[index].session) == model.isLive(model.all[index], now))
                if found != nil, isActivity { model.touch(index, now) }
            case 5:
                guard !live.isEmpty else { continue }
                let index = random.pick(live)
                try await fixture.table.end(model.all[index].session, cause: .logout)
                model.all[index].end = .logout
            default:
                if random.below(10) == 0 {
                    let user = "user\(random.below(5))"
                    model.sweep(now)
                    fixture.table.sweep()
                    fixture.table.end(.userChanged) { $0.user.username.text == user }
                    for index in model.all.indices where model.all[index].user == user && model.all[index].end == nil {
                        model.all[index].end = .userChanged
                    }
                }
            }
            if random.below(3) == 0 { fixture.table.sweep() }
        }
        fixture.table.sweep()
        model.sweep(now)
        try await fixture.table.processCommandsAndRemovals()
        #expect(model.all.map(\.session.end) == model.all.map(\.end))
        #expect(fixture.table.count == model.live(now).count)
        #expect(Set(store.records.map(\.id)) == Set(model.live(now).map { model.all[$0].session.id }))
        #expect(fixture.ends.all.count == model.all.count { $0.end != nil })
    }

    @Test(arguments: 0..<10)
    func `concurrent tasks never exceed the limits, and leave no session in the store`(seed: UInt64) async throws {
        let store = MemoryStore()
        let fixture = SessionFixture(
            {
                $0.perUser = 3
                $0.total = 10
            },
            store: store
        )
        var identities: [AuthenticatedIdentity] = []
        for number in 0..<4 { identities.append(try await fixture.identity("user\(number)")) }
        let users = identities
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    var random = Random(seed: seed &* 1000 &+ UInt64(task))
                    var last: (session: Session, token: OpaqueToken)?
                    for _ in 0..<60 {
                        switch random.below(5) {
                        case 0, 1:
                            do throws(SessionFault) {
                                last = try await fixture.table.begin(
                                    random.pick(users),
                                    at: SessionFixture.host,
                                    from: SessionClient(address: nil, userAgent: ""),
                                    stamp: nil,
                                    since: fixture.table.revocationEpoch(),
                                    replacing: random.below(2) == 0 ? last?.session : nil
                                )
                            } catch {
                                #expect([.full, .changedMeanwhile].contains(error))
                            }
                        case 2:
                            guard let begun = last else { continue }
                            let found = fixture.table.session(begun.token, at: SessionFixture.host, isActivity: true)
                            #expect(found == nil || found === begun.session)
                        case 3:
                            if let begun = last { try await fixture.table.end(begun.session, cause: .logout) }
                        default:
                            let user = "user\(random.below(4))"
                            if random.below(5) == 0 {
                                fixture.table.end(.userChanged) { $0.user.username.text == user }
                            }
                        }
                        #expect(fixture.table.count <= 10)
                    }
                }
            }
            try await group.waitForAll()
        }
        for user in 0..<4 { #expect(fixture.table.sessions(of: try fixture.user("user\(user)")).count <= 3) }
        try await fixture.table.processCommandsAndRemovals()
        #expect(Set(store.records.map(\.id)) == Set(fixture.table.sessions.map(\.id)))
        fixture.table.end(.administrator) { _ in true }
        try await fixture.table.processCommandsAndRemovals()
        #expect(store.records.isEmpty)
        fixture.table.state.withLock { state in
            #expect(state.byToken.isEmpty)
            #expect(state.reserved == 0)
            #expect(state.writes.due.isEmpty)
        }
    }
}
