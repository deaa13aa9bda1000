// SPDX-License-Identifier: Apache-2.0

import Instrumentation
import Logging
import RealmKit
import RealmTesting
import Testing

@testable import RealmVerifier

@Suite struct SignedInUserContextTests {
    private func name() -> String? { ServiceContext.current?.signedInUser?.username.text }

    @Test func `the user of a task is the user of its child tasks, and of nothing after it`() async throws {
        let (ann, ben) = (try SignedInUser.forTests("ann"), try SignedInUser.forTests("ben"))
        #expect(name() == nil)
        await withSignedInUser(ann) {
            await Task.yield()
            #expect(name() == "ann")
            async let child = name()
            #expect(await child == "ann")
            await withSignedInUser(ben) { #expect(name() == "ben") }
            await withSignedInUser(nil) { #expect(name() == nil) }
            #expect(name() == "ann")
            #expect(await Task.detached { ServiceContext.current?.signedInUser }.value == nil)
        }
        await #expect(throws: CancellationError.self) { try await withSignedInUser(ann) { throw CancellationError() } }
        #expect(name() == nil)
    }

    @Test func `what else a context has stays`() async throws {
        enum Key: ServiceContextKey { typealias Value = Int }
        var context = ServiceContext.topLevel
        context[Key.self] = 5
        let ann = try SignedInUser.forTests("ann")
        await ServiceContext.withValue(context) {
            await withSignedInUser(ann) { #expect(ServiceContext.current?[Key.self] == 5 && name() == "ann") }
        }
    }

    @Test func `log lines have the user and the realm, from which no field can be forged`() async throws {
        let provider = Logger.MetadataProvider.signedInUser
        #expect(provider.get().isEmpty)
        let user = try SignedInUser.forTests("a\" realm=\"x\u{E9}", realm: "team", groups: ["Staff"])
        await withSignedInUser(user) {
            #expect(provider.get() == ["user": #""a\" realm=\"x\u{e9}""#, "realm": #""team""#])
        }
    }

    @Test func `a user for tests has what a login can give, and nothing else`() throws {
        let user = try SignedInUser.forTests(
            "ann",
            realm: "team",
            groups: ["b", "a", "b"],
            attributes: ["mail": ["a@example.com"], "displayName": ["Ann"]]
        )
        #expect(user.realm == "team" && user.username.text == "ann" && user.groups == ["b", "a"])
        #expect(user.isMember(of: "a") && !user.isMember(of: "c"))
        #expect(user.attributes.map(\.name) == ["displayName", "mail"])
        #expect(throws: BadUsername.self) { try SignedInUser.forTests(" ann") }
        #expect(throws: BadAttribute.self) { try SignedInUser.forTests("ann", attributes: ["mail": []]) }
    }
}
