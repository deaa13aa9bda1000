// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import RealmKit
import Synchronization
import Testing

@testable import RealmLDAP

@Suite(.enabled(if: SlapdServer.unavailable == nil, "\(SlapdServer.unavailable ?? "")"))
struct BackEndTestTests {
    private func steps(_ realm: LDAPRealm, user: String?) async throws -> [BackEndStep] {
        let steps = Mutex<[BackEndStep]>([])
        await realm.testBackEnd(user: try user.map { try Username($0) }) { step in steps.withLock { $0.append(step) } }
        return steps.withLock { $0 }
    }

    @Test func `each server is tested, with the steps of a login but the bind of the user`() async throws {
        let (first, second) = (try await SlapdServer(), try await SlapdServer())
        let realm = try LDAPSetup.realm(first, ["directory": [first.tlsURL, second.tlsURL]])
        await second.stop()
        let found = try await steps(realm, user: "ann")
        let refused = "connection and bind for searches: no connection: Connection refused"
        #expect(found.filter(\.isFailure).map(\.text) == ["\(second.tlsURL): \(refused)"])
        let texts = found.map(\.text)
        for text in [
            "connection and bind for searches: \(SlapdServer.service.name)", "password change by RFC 3062: yes",
            "for (uid=ann): \(SlapdServer.ann.name)", "user ann, groups: ",
            "a login binds as \(SlapdServer.ann.name) with the password of the user",
        ] {
            #expect(texts.contains { $0.hasPrefix(first.tlsURL) && $0.contains(text) }, "\(text): \(texts)")
        }
        #expect(first.binds == [SlapdServer.service.name])
        #expect(try await steps(realm, user: "zoe").filter(\.isFailure).count == 2)
        #expect(try await steps(realm, user: nil).filter { $0.text.contains("entry ") }.count == 2)
    }

    @Test func `with a direct bind, no step states that the user exists`() async throws {
        let server = try await SlapdServer()
        let realm = try LDAPSetup.realm(
            server,
            [
                "search-bind-dn": nil, "search-bind-password": nil,
                "user-dn-pattern": ["uid=%s,\(SlapdServer.people)"],
            ]
        )
        let found = try await steps(realm, user: "zoe")
        let name = "uid=zoe,\(SlapdServer.people)"
        #expect(found.last?.text == "a login binds as \(name); only the password shows whether there is this user")
        let principals = try LDAPSetup.realm(
            server,
            ["search-bind-dn": nil, "search-bind-password": nil, "user-dn-pattern": ["%s@example.org"]]
        )
        #expect(try await steps(principals, user: "a nn").last?.isFailure == true)
        let refused = try await principals.login("a nn", "lilac")
        #expect(refused.failure == .unknownUser)
        let reason = "a nn: the name cannot be used without a search (user-dn-pattern)"
        #expect(refused.noteTexts.contains { $0.hasSuffix(reason) }, "\(refused.noteTexts)")
    }

    @Test func `a user who cannot sign in is a failure`() async throws {
        let server = try await SlapdServer()
        let realm = try LDAPSetup.realm(server)
        for (user, cause) in [
            ("carl", "the directory has locked the account"), ("frank", "the account is disabled"),
            ("dora", "the password must be changed"),
        ] {
            let failures = try await steps(realm, user: user).filter(\.isFailure).map(\.text)
            #expect(failures.count == 1 && failures.first?.hasSuffix(cause) == true, "\(failures)")
        }
    }

    @Test func `a wrong password of the account for searches is named`() async throws {
        let server = try await SlapdServer()
        let realm = try LDAPSetup.realm(server, ["search-bind-password": ["wrong"]])
        let failures = try await steps(realm, user: "ann").filter(\.isFailure).map(\.text)
        #expect(failures.count == 1)
        let cause = "the bind of this program as \(SlapdServer.service.name) was rejected: 49"
        #expect(failures.first?.contains(cause) == true)
    }

    @Test func `users are listed with their state`() async throws {
        let server = try await SlapdServer()
        let users = try await LDAPSetup.realm(server).users()
        #expect(users.map(\.name.text).sorted() == SlapdServer.allPeople.map(\.uid).sorted())
        #expect(users.filter { !$0.isEnabled }.map(\.name.text) == ["frank"])
        #expect(users.filter(\.mustChangePassword).map(\.name.text) == ["dora"])
        let ann = try await LDAPSetup.realm(server).user(Username("ann"))
        #expect(ann?.groups.sorted() == ["comma, group", "level1", "staff"])
        #expect(ann?.attributes.values(of: "mail") == ["ann@example.org"])
    }
}
#endif
