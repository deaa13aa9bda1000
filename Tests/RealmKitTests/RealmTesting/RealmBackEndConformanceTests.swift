// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import RealmTesting
import Testing

/// The conformance test of realms with back ends finds each of the defects that it is for.
struct RealmBackEndConformanceTests {
    typealias Check = RealmBackEndConformance.Check
    typealias Defect = TestBackEnd.Defect

    @Test func `a good realm has no violations, and every check makes logins`() async {
        let report = await TestBackEnd().conformance(Set(Check.allCases), deadline: .seconds(3)).check()
        #expect(report.violations == [])
        #expect(report.skipped == [])
        #expect(report.checked.count == Check.allCases.count)
        #expect(report.checked.allSatisfy { !$0.hasSuffix(" 0 logins") }, "\(report)")
        #expect(report.measurements.contains { $0.hasSuffix(" child processes were examined") })
    }

    private func violations(
        of defect: Defect,
        _ checks: Set<Check>,
        hangs: Bool = false,
        slack: Duration = .seconds(30)
    ) async -> [String] {
        let backEnd = TestBackEnd(defect)
        var conformance = backEnd.conformance(
            checks,
            faults: [hangs ? backEnd.hanging : backEnd.stopped],
            // A fault that hangs takes this time.
            deadline: .seconds(hangs ? 3 : 60)
        )
        conformance.slack = slack
        return await conformance.check().violations
    }

    static let outages: [(Defect, String)] = [
        (.refusesInOutage, "the login of ann with the right credentials is refused as wrong-credentials, and not as"),
        (.acceptsInOutage, "the login of ann with a wrong password is accepted"),
        (.breaksInOutage, "the login of ann with the right credentials ends with an internal error"),
        (.ignoresInOutage, "the login of ann with the right credentials is refused as permission-denied, and not as"),
        (.countsInOutage, "logins count as failed attempts: "),
        (.namesNoCause, "no log line and no fault names the cause, with one of [\"connection refused\"]; they are: "),
        (.forgetsUsers, "groupNames(of: ann) throws noSuchUser"),
        (.forgetsGroups, "groupNames(of: ann) returns [], and not [\"staff\"]"),
        (.losesState, "state(of: ann) is gone"),
    ]

    @Test(arguments: outages)
    func `a realm that hides an outage is reported`(defect: Defect, violation: String) async {
        let found = await violations(of: defect, [.outages])
        #expect(found.contains { $0.hasPrefix("while the back end is stopped: \(violation)") }, "\(found)")
    }

    @Test func `a realm that stays unavailable after an outage is reported`() async {
        let found = await violations(of: .staysDown, [.outages], slack: .seconds(1))
        #expect(
            found == [
                "after the back end is stopped: users are still refused after 1.0 seconds: "
                    + "unavailable: connection refused"
            ]
        )
    }

    @Test func `a realm that refuses users whose back end hangs is reported`() async {
        let found = await violations(of: .refusesWhenLate, [.deadline], hangs: true)
        #expect(found.contains { $0.contains("is refused as wrong-credentials, and not as unavailable") }, "\(found)")
    }

    @Test func `a back end that is not released after a deadline and a cancellation is reported`() async {
        let found = await violations(
            of: .ignoresCancellation,
            [.deadline, .cancellation, .release],
            hangs: true,
            slack: .seconds(2)
        )
        #expect(found.contains("while the back end hangs: 6 calls of the back end stay open after a deadline"))
        #expect(found.contains { $0.hasSuffix("calls of the back end stay open after a cancellation") }, "\(found)")
    }

    @Test func `a module that blocks its thread, so that no deadline can be kept, is reported`() async {
        let backEnd = TestBackEnd(.blocksThread)
        var conformance = backEnd.conformance([.deadline], faults: [backEnd.hanging], deadline: .milliseconds(1500))
        conformance.slack = .seconds(1)
        let found = await conformance.check().violations
        #expect(found.contains { $0.hasPrefix("while the back end hangs: logins take ") }, "\(found)")
    }

    @Test func `a realm that does not keep what it has loaded, but is said to, is reported`() async {
        let backEnd = TestBackEnd()
        let fault = BackEndFault("the back end is stopped", effect: .none, causes: ["connection refused"]) {
            backEnd.stop()
        } end: {
            backEnd.restore()
        }
        let found = await backEnd.conformance([.outages], faults: [fault]).check().violations
        #expect(
            found.first == "while the back end is stopped: the login of ann with the right credentials should be "
                + "accepted, but is refused: unavailable: connection refused"
        )
    }

    @Test func `a fault that is said to hang and does not is reported`() async {
        let found = await violations(of: .answersWhileHanging, [.cancellation], hangs: true)
        #expect(
            found == [
                "while the back end hangs: all logins end before they can be cancelled, so the back end does not hang"
            ]
        )
    }

    @Test(arguments: [
        (Defect.mixesUsers, "has the groups "), (.limitsCalls, "is refused: unavailable: too many calls"),
    ])
    func `a realm that mixes up or loses concurrent logins is reported`(defect: Defect, violation: String) async {
        let found = await violations(of: defect, [.concurrency])
        #expect(found.contains { $0.hasPrefix("among 100 logins at once: ") && $0.contains(violation) }, "\(found)")
    }

    @Test func `a realm that writes before the decision, or works more after a right password, is reported`() async {
        let found = await violations(of: .writesInLogin, [.locks])
        #expect(found.first == "a login to the locked account of ann changes the back end")
        let working = await violations(of: .hashesTwice, [.locks, .equalWork])
        #expect(
            working.first == "the locked account of ann: the right password gives locked "
                + "[\"login 0\", \"abort 0\"], 1 questions, 2 hashes, a wrong one locked "
                + "[\"login 0\", \"abort 0\"], 1 questions, 1 hashes"
        )
    }

    static let inputs: [(Defect, String)] = [
        (.acceptsLongerNames, "the login of the name \"ann-\" is accepted"),
        (.acceptsAsterisk, "the login of the name \"*\" is accepted"),
        (.decodesPercent, "%00\" is accepted"),
        (.stopsAtZero, "the login of ann with the right password with a zero byte after it is accepted"),
        (.trims, "the login of ann with the right password with a blank after it is accepted"),
        (.cuts, "the login of ann with the right password and 65536 letters is accepted"),
        (.acceptsEmpty, "the login of ann with an empty password is accepted"),
        (.breaksOnBytes, "ends with an internal error: internal-error: the password is not UTF-8"),
        (.failsOnControls, "ends as unavailable, although the back end works: unavailable: 400"),
        (.foldsCase, "the login of \"ANN\", another spelling of ann, with the right credentials is accepted"),
    ]

    @Test(arguments: inputs)
    func `a realm that accepts hostile input or fails because of it is reported`(
        defect: Defect,
        violation: String
    ) async {
        let conformance = TestBackEnd(defect).conformance([.hostileInput])
        let found = await conformance.check().violations
        #expect(found.contains { $0.contains(violation) }, "\(found)")
    }

    @Test func `a realm that accepts other spellings must count them under one account key`() async {
        var conformance = TestBackEnd(.foldsCase).conformance([.hostileInput])
        conformance.acceptsOtherSpellings = true
        let found = await conformance.check().violations
        #expect(found.count > 1)
        #expect(
            found.allSatisfy {
                $0.hasSuffix("is accepted, but has another accountKey(of:) than ann") || $0.hasSuffix("than bob")
            }
        )
    }

    @Test func `random input finds a realm that accepts half a password, and names the seed`() async {
        var conformance = TestBackEnd(.acceptsHalf).conformance([.hostileInput])
        #expect(await conformance.check().violations == [])
        conformance = TestBackEnd(.acceptsHalf).conformance([.randomInput])
        (conformance.seed, conformance.rounds) = (7, 500)
        let found = await conformance.check().violations
        #expect(found.contains { $0.hasPrefix("with the seed 7: the login of ") && $0.hasSuffix(" is accepted") })
    }

    static let leaks: [(Defect, String)] = [
        (.logs, "a log line contains a wrong password"), (.logs, "a log line contains the password of ann"),
        (.notesBase64, "a note contains a wrong password, in base64"),
        (.notesBase64, "a note contains the password of bob, in base64"),
        (.throwsPercent, "a fault contains a wrong password, percent-encoded"),
        (.throwsDigits, "a fault contains a wrong password, in hexadecimal digits"),
        (.remembers, "the text of an identity contains the password of ann"),
    ]

    @Test(arguments: leaks)
    func `a realm that reveals a secret is reported`(defect: Defect, violation: String) async {
        let found = await violations(of: defect, [.secrets, .concurrency])
        #expect(found.contains(violation), "\(found)")
    }

    @Test(arguments: [
        (Defect.passesArgument, "the command line of a child process contains a wrong password"),
        (.passesArgument, "the command line of a child process contains the password of ann"),
        (.passesVariable, "the environment of a child process contains the password of bob"),
    ])
    func `a realm that passes a secret to a program openly is reported`(defect: Defect, violation: String) async {
        let found = await violations(of: defect, [.processes])
        #expect(found.contains(violation), "\(found)")
    }

    @Test func `a realm that computes no hash for unknown users is reported`() async {
        let found = await violations(of: .skipsUnknown, [.equalWork])
        #expect(
            found.contains(
                "the login of the unknown user no-such-user computes 0 hashes, and the login of ann with the right "
                    + "credentials computes 1"
            )
        )
        var conformance = TestBackEnd().conformance([.equalWork])
        conformance.computations = { 7 }
        #expect(
            await conformance.check().violations == ["no login computes a hash, so computations counts nothing"]
        )
    }

    @Test func `a realm that does not work without a fault is reported, and nothing else is checked`() async {
        let report = await TestBackEnd(.acceptsAnyPassword).conformance(Set(Check.allCases)).check()
        #expect(report.violations.contains("the login of ann with a wrong password is accepted"))
        #expect(
            report.violations.last == "no further check is made, because the back end does not work without a fault"
        )
    }

    // MARK: Certificates

    /// Returns a test of a module that accepts certificates that begin with the first bytes of the user's certificate.
    private func certificates(comparing count: Int) -> RealmBackEndConformance {
        let right: [UInt8] = [0x30, 0x82, 0x00, 0x05, 1, 2, 3, 4, 5]
        let module = ScriptedModule(
            .run { (attempt) async throws(LoginFault) in
                guard case .certificate(let given) = try await attempt.ask([.certificate])[0] else {
                    throw LoginFault(.missingCredential, log: "no certificate was presented")
                }
                guard attempt.username.text == "ann" else { return .failed(.unknownUser) }
                let isRight = count < 9 ? given.starts(with: right.prefix(count)) : given == right
                return isRight ? attempt.commit(groups: ["staff"]) : .failed(.wrongCredentials)
            }
        )
        var conformance = RealmBackEndConformance(
            users: [.init("ann", certificate: right, groups: ["staff"])],
            deadline: .seconds(10)
        ) { _ in .forConformance(ScriptedRealm(), modules: [module], deadline: .seconds(10)) }
        conformance.skip(.outages, .deadline, .cancellation, .release, reason: "the module has no back end")
        conformance.skip(.secrets, .processes, reason: "a certificate is not secret")
        return conformance
    }

    @Test func `a realm of certificates is tested, and one that reads only a part of them is reported`() async {
        #expect(await certificates(comparing: 9).check().violations == [])
        let found = await certificates(comparing: 4).check().violations
        #expect(
            found == [
                "the login of ann with half of the certificate is accepted",
                "the login of ann with the certificate without its last byte is accepted",
            ]
        )
    }

    private struct ScriptedRealm: Realm {
        static let properties: PropertySchema = [.jaasContext(default: "test")]
        let jaasContext = "test"
        let authType = "Scripted"

        init() {}
        init(_ properties: RealmProperties) throws(BadRealm) {}
    }

    // MARK: The test itself

    @Test func `a check without what it needs, or skipped without a reason, is a violation`() async {
        let conformance = RealmBackEndConformance(users: [.init("ann", password: "short")], deadline: .seconds(1)) {
            _ in
            throw BadRealm("is never created")
        }
        var all = conformance
        #expect(
            await all.check().violations == [
                "the check outages needs a fault of the back end; skip it with a reason if there is none",
                "the check deadline needs a fault that hangs; skip it with a reason if there is none",
                "the check cancellation needs a fault that hangs; skip it with a reason if there is none",
                "the check release needs openCalls; skip it with a reason if there is none",
                "the check secrets needs a password of at least 8 bytes; skip it with a reason if there is none",
                "the check processes needs a password of at least 8 bytes; skip it with a reason if there is none",
            ]
        )
        for check in Check.allCases { all.skipped[check] = check == .outages ? " " : "no reason" }
        #expect(await all.check().violations == ["the check outages is skipped without a reason"])
        all.skipped[.outages] = "there is no back end"
        let report = await all.check()
        #expect(report.violations == ["the realm cannot be created: is never created"])
        #expect(report.skipped.first == "outages: there is no back end")
    }

    @Test func `a fault that cannot be caused or ended, or has no cause, is a violation`() async {
        let backEnd = TestBackEnd()
        let wrong = BackEndFault("it is not there", causes: ["x"]) {
            throw BadRealm("no server")
        } end: {
        }
        let stuck = BackEndFault("it is stuck", effect: .none, causes: ["x"]) {
        } end: {
            throw BadRealm("no server")
        }
        let found = await backEnd.conformance([.outages], faults: [wrong, stuck]).check().violations
        #expect(found.first == "while it is not there: the fault cannot be caused: no server")
        #expect(found.contains("while it is stuck: the back end cannot be restored: no server"))
        #expect(found.contains { $0.hasPrefix("while it is stuck: no log line and no fault names the cause") })
        let nameless = BackEndFault("it is silent", causes: [""]) {
        } end: {
        }
        let silent = await backEnd.conformance([.outages], faults: [nameless]).check().violations
        #expect(silent == ["the fault \"it is silent\" has no text that names its cause"])
    }
}
