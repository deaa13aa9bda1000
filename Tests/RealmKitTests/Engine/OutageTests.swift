// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import RealmTesting
import SeededRandom
import Testing

@testable import RealmKit

struct OutageTests {
    /// The outcomes of a module that is up, and of one that is down.
    private static let answers: [Outcome] = [
        .success, .ignored, .failure(.wrongCredentials), .failure(.unknownUser), .failure(.permissionDenied),
    ]
    private static let faults: [Outcome] = [.failure(.unavailable), .failure(.internalError)]

    /// One place in a stack: its table, and the outcome of its module if that is down.
    private struct Place {
        let table: ActionTable
        var level = 0
        let fault: Outcome?
    }

    /// The stacks of all possible logins while the same modules are down.
    private func stacks(_ places: [Place]) -> [LoginStack] {
        let up = places.indices.filter { places[$0].fault == nil }
        var worlds: [[Int: Outcome]] = [[:]]
        for place in up {
            worlds = worlds.flatMap { world in
                Self.answers.map { answer in world.merging([place: answer]) { $1 } }
            }
        }
        return worlds.map { world in
            let entries = places.enumerated().map { index, place in
                LoginStack.Entry(
                    Fixed(place.fault ?? world[index] ?? .ignored, index: index),
                    place.table,
                    control: "table",
                    name: "module",
                    level: place.level
                )
            }
            return LoginStack(name: "lane", entries, clock: ManualClock())
        }
    }

    private func reports(_ stacks: [LoginStack], mayGrant: Bool) async throws -> [LoginReport] {
        let request = try request()
        var reports: [LoginReport] = []
        for stack in stacks {
            reports.append(await stack.login(request, asking: PreparedConversation.silent, mayGrant: mayGrant))
        }
        return reports
    }

    private func check(_ places: [Place]) async throws {
        // Exploring what a stack may return costs far more than a login to it.
        let stacks = stacks(places)
        let open = try await reports(stacks, mayGrant: true)
        let refused = open.filter { $0.refusal != nil }
        let outages = Set(refused.map(\.outage))
        #expect(outages.count <= 1, "the answers tell more than that they are refusals: \(outages)")
        if outages.contains(where: { $0?.excludesSuccess == true }) { #expect(refused.count == open.count) }
        // A login to a locked account is refused like other refused logins.
        let closed = try await reports(stacks, mayGrant: false)
        if !refused.isEmpty { #expect(Set(closed.map(\.outage)) == outages) }
    }

    @Test(arguments: 0..<300)
    func `while modules are unavailable all refusals are alike`(seed: UInt64) async throws {
        var random = Random(seed: seed)
        let places = (0..<(1 + random.below(4))).map { _ in
            Place(
                table: ActionTable(random.pick(ControlFlag.allCases)),
                fault: random.below(3) == 0 ? random.pick(Self.faults) : nil
            )
        }
        try await check(places)
    }

    @Test(arguments: 0..<300)
    func `while one module is unavailable refusals are alike with tables, jumps and sub-stacks too`(
        seed: UInt64
    ) async throws {
        var random = Random(seed: seed)
        let actions: [Action] = [.ok, .done, .bad, .die, .ignore, .reset, .jump(1), .jump(2)]
        let down = random.below(4)
        var level = 0
        let places = (0..<4).map { index in
            var table = ActionTable(success: random.pick(actions), ignored: .ignore, failure: random.pick(actions))
            for outcome in Self.answers + Self.faults where random.below(4) == 0 {
                table[outcome] = random.pick(actions)
            }
            level = index == 0 ? 0 : max(0, min(2, level + random.below(3) - 1))
            return Place(table: table, level: level, fault: index == down ? random.pick(Self.faults) : nil)
        }
        try await check(places)
    }

    private static let down = LoginStack.Entry.required(FaultInjector(.fail(.unavailable("down"))))

    @Test func `while a required module is unavailable every login is refused as unavailable`() async throws {
        for outcome in Self.answers {
            for entries in [[.required(Fixed(outcome)), Self.down], [Self.down, .required(Fixed(outcome))]] {
                let report = try await LoginStack(name: "lane", entries, clock: ManualClock()).login()
                #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: true))
                #expect(report.isUnavailable)
            }
        }
    }

    @Test func `a requisite module before it hides the outage from users it refuses`() async throws {
        for outcome in Self.answers {
            let report = try await stack(.requisite(Fixed(outcome)), Self.down).login()
            #expect(report.outage == nil)
            #expect(!report.isUnavailable)
        }
    }

    @Test func `an unavailable module behind a sufficient one makes every refusal unavailable`() async throws {
        for outcome in Self.answers.dropFirst() {
            let report = try await stack(.sufficient(Fixed(outcome)), Self.down).login()
            #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: false))
        }
        #expect(try await stack(.sufficient(Fixed(.success)), Self.down).login().outage == nil)
    }

    @Test func `an unavailable optional module changes nothing`() async throws {
        let down = FaultInjector(.fail(.unavailable("down")))
        let report = try await stack(.optional(down), .required(Fixed(.failure(.wrongCredentials)))).login()
        #expect(report.outage == nil)
    }

    @Test func `a module that throws another fault is not reported as unavailable`() async throws {
        let report = try await stack(.required(FaultInjector(.fail(.internalError("broken"))))).login()
        #expect(report.outage == Outage(mayBeShown: false, excludesSuccess: true))
    }

    /// A module that takes the shared password of the module before it and is down; without a password it fails at
    /// once.
    private struct Follower: LoginModule {
        init() {}
        init(realm: any Realm, options: ModuleOptions) throws(BadModule) {}

        func authenticateUser(_ attempt: LoginAttempt) async throws(LoginFault) -> Verdict {
            guard attempt.shared.secret(.password) != nil else { return .failed(.missingCredential) }
            throw .unavailable("down")
        }
    }

    @Test(arguments: [true, false])
    func `an outage that only a right password reaches is not reported`(isRight: Bool) async throws {
        let check = FaultInjector(
            .run { attempt in
                guard isRight else { return .failed(.wrongCredentials) }
                attempt.updateShared { $0[.password] = .secret(Secret(utf8: "right")) }
                return attempt.commit()
            }
        )
        let report = try await stack(.required(check), .required(Follower())).login()
        #expect(report.outage == nil)
        #expect(!report.isUnavailable)
    }

    @Test func `a cancelled call counts as an outage of its module`() async throws {
        for (flag, outage) in [
            (ControlFlag.required, Outage(mayBeShown: true, excludesSuccess: true)),
            (.sufficient, Outage(mayBeShown: true, excludesSuccess: false)), (.requisite, nil),
        ] {
            let slow = FaultInjector(.hold())
            let first = FaultInjector(.refuse(.unknownUser))
            let isReached = flag != .requisite
            let stack = stack(LoginStack.Entry(isReached ? first : FaultInjector(), flag), .required(slow))
            let task = Task { try await stack.login() }
            await slow.untilCalled()
            task.cancel()
            #expect(try await task.value.outage == outage)
        }
    }

    @Test func `a login that was accepted and could not be completed is an outage`() async throws {
        let report = try await stack(.required(FaultInjector(commit: .fail(.unavailable("down"))))).login()
        #expect(report.outage == Outage(mayBeShown: true, excludesSuccess: true))
    }

    @Test(arguments: [(true, true), (true, false), (false, false)])
    func `a secret is presented whether it is asked for or not`(isPresent: Bool, isAsked: Bool) async throws {
        let module = FaultInjector(
            .run { (attempt) async throws(LoginFault) in
                if isAsked { _ = try await attempt.password() }
                return .failed(.wrongCredentials)
            }
        )
        let conversation = PreparedConversation(password: isPresent ? Secret(utf8: "x") : nil)
        let report = await stack(.required(module)).login(try request(), asking: conversation)
        #expect(report.presentedSecret == isPresent)
    }
}
