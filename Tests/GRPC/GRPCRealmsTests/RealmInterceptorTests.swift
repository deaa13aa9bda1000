// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRPCCore
import GRPCRealms
import RealmVerifier
import Testing

@Suite struct RealmInterceptorTests {
    private static func basic(_ credentials: String) -> Metadata {
        ["authorization": "Basic \(Data(credentials.utf8).base64EncodedString())"]
    }

    @Test func `the handler and the response producer see the user of their call`() async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.open, Self.basic("ann:right")) == "ann ann ann")
            #expect(try await call(Door.open, Self.basic("ben:right")) == "ben ben ben")
        }
    }

    @Test func `calls at the same time have users of their own`() async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            try await withThrowingTaskGroup(of: (String, String).self) { group in
                for number in 0..<200 {
                    group.addTask {
                        let name = number % 2 == 0 ? "ann" : "ben"
                        return (name, try await call(Door.open, Self.basic("\(name):right")))
                    }
                }
                for try await (name, message) in group { #expect(message == "\(name) \(name) \(name)") }
            }
        }
    }

    static let unusable: [Metadata] = [
        [:], ["authorization": "Bearer YW5uOnJpZ2h0"], ["authorization": "Basic"], ["authorization": "Basic YW5u"],
        ["authorization": "Basic YW5uOnJpZ2h0", "Authorization": "Basic YW5uOnJpZ2h0"],
        ["authorization-bin": .binary(Array("Basic YW5uOnJpZ2h0".utf8))],
    ]

    @Test(arguments: unusable)
    func `a call without usable credentials is unauthenticated`(metadata: Metadata) async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.open, metadata) == "unauthenticated: credentials are required")
        }
    }

    @Test func `wrong credentials are unauthenticated, and a realm that is down is unavailable`() async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            for credentials in ["ann:wrong", "nobody:right"] {
                #expect(
                    try await call(Door.open, Self.basic(credentials)) == "unauthenticated: wrong user name or password"
                )
            }
            #expect(try await call(Door.open, Self.basic("cut:right")) == "unavailable: the login is unavailable now")
        }
    }

    @Test func `the handler does not see the password`() async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            var metadata = Self.basic("ann:right")
            metadata.addString("1", forKey: "x")
            #expect(try await call(Door.list, metadata) == "x")
        }
        try await Door.serve { (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.list, ["Authorization": "Basic YW5uOnJpZ2h0"]) == "")
        }
    }

    @Test func `errors of the handler and of the response producer reach the client`() async throws {
        try await Door.serve { (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.fail, Self.basic("ann:right")) == "notFound: no door")
            #expect(try await call(Door.drop, Self.basic("ann:right")) == "dataLoss: the door broke")
        }
    }

    @Test func `only the named realms accept users`() async throws {
        try await Door.serve({ [.apply(RealmInterceptor($0, in: ["other"]), to: .all)] }) {
            (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.open, Self.basic("eve:")) == "eve eve eve")
            #expect(try await call(Door.open, Self.basic("ann:right")).hasPrefix("unauthenticated"))
        }
    }

    @Test func `the address of the client comes from the closure, and one that is none is unavailable`() async throws {
        let peer: @Sendable (ServerContext, Metadata) -> String? = { _, metadata in
            Array(metadata[stringValues: "x-real-ip"]).last ?? ""
        }
        try await Door.serve({ [.apply(RealmInterceptor($0, peer: peer), to: .all)] }) {
            (call: @escaping Door.Call) async throws in
            var metadata = Self.basic("ann:right")
            #expect(try await call(Door.open, metadata).hasPrefix("unavailable"))
            metadata.addString("192.0.2.1", forKey: "x-real-ip")
            #expect(try await call(Door.open, metadata) == "ann ann ann")
            metadata.addString("not an address", forKey: "x-real-ip")
            #expect(try await call(Door.open, metadata).hasPrefix("unavailable"))
        }
    }

    // MARK: Groups

    @Test func `a method may require a group`() async throws {
        let pipeline = { (verifier: RealmVerifier) -> [ConditionalInterceptor<any ServerInterceptor>] in
            [
                .apply(RealmInterceptor(verifier), to: .all),
                .apply(RequireGroup("Crew", "Staff"), to: .methods([Door.open])),
            ]
        }
        try await Door.serve(pipeline) { (call: @escaping Door.Call) async throws in
            #expect(try await call(Door.open, Self.basic("ann:right")) == "ann ann ann")
            #expect(try await call(Door.open, Self.basic("ben:right")) == "permissionDenied: access denied")
            #expect(try await call(Door.list, Self.basic("ben:right")) == "")
            #expect(try await call(Door.open, [:]).hasPrefix("unauthenticated"))
        }
    }

    @Test func `without an interceptor that authenticates, a required group lets nobody in`() async throws {
        for isAfter in [true, false] {
            let pipeline = { (verifier: RealmVerifier) -> [ConditionalInterceptor<any ServerInterceptor>] in
                [.apply(RequireGroup("Staff"), to: .all)]
                    + (isAfter ? [.apply(RealmInterceptor(verifier), to: .all)] : [])
            }
            try await Door.serve(pipeline) { (call: @escaping Door.Call) async throws in
                #expect(try await call(Door.open, Self.basic("ann:right")).hasPrefix("internalError: RequireGroup"))
            }
        }
    }
}
