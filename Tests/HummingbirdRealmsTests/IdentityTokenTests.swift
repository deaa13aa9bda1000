// SPDX-License-Identifier: Apache-2.0

import Bytes
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdRealms
import OpenSSLKit
import Testing

/// Identity tokens for an application to which a site forwards requests.
@Suite struct IdentityTokenTests {
    private static func application(
        _ fixture: RealmsFixture,
        for host: String = "shop.example"
    ) throws -> Application<RouterResponder<RealmsFixture.Context>> {
        let router = Router(context: RealmsFixture.Context.self)
        router.add(middleware: SignInPages(fixture.realms))
        router.add(middleware: try RealmAuthenticator(fixture.realms))
        router.get("/token") { _, context in try context.identityToken(for: host) ?? "none" }
        return Application(router: router)
    }

    /// Makes a key and writes it to a file beside realms.conf.
    private static func writeKey(_ name: String, to folder: URL) throws -> SigningKey {
        let made = try PrivateKey.makeP256()
        let file = folder.appending(path: name)
        var bytes: [UInt8] = []
        try made.withPEM { pem throws(OpenSSLError) in
            for index in pem.indices { bytes.append(pem[index]) }
        }
        try Data(bytes).write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
        return try SigningKey(made, name: name)
    }

    private static func claims(_ token: String, by key: SigningKey) throws -> [String: Any] {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        try #require(parts.count == 3, "\(token)")
        let signature = try #require(Base64.url.decode(parts[2]))
        let isValid = try key.verifies(signature.span, of: Array("\(parts[0]).\(parts[1])".utf8).span)
        try #require(isValid)
        let object = try JSONSerialization.jsonObject(with: Data(try #require(Base64.url.decode(parts[1]))))
        return try #require(object as? [String: Any])
    }

    @Test func `a user gets a token for the host that the program names`() async throws {
        let fixture = try await RealmsFixture()
        let application = try Self.application(fixture)
        #expect(try await application.send(.get, "/token", basic("ann")).text == "none")
        let key = try Self.writeKey("identity.pem", to: fixture.folder)
        let settings = "trusted-proxies none; identity-token { key identity.pem; }"
        try fixture.rewrite(server: settings)
        try await fixture.realms.reload()
        #expect(try await application.send(.get, "/token").text == "none")
        let cookie = try await fixture.signIn("ann", at: application)
        for fields in [basic("ann"), [.cookie: cookie]] {
            let text = try await application.send(.get, "/token", fields).text
            let claims = try Self.claims(text, by: key)
            #expect(claims["aud"] as? String == "shop.example")
            #expect(claims["iss"] as? String == "https://shop.example")
            #expect(claims["sub"] as? String == "people/ann")
            #expect(claims["groups"] as? [String] == ["Staff", "User"])
        }
        let keys = try await application.send(.get, "/jwks.json").text
        let x = key.x
        let coordinate = Base64.url.encode(x.span)
        #expect(keys.contains(coordinate), "\(keys)")
        // A reload changes the key.
        let next = try Self.writeKey("next.pem", to: fixture.folder)
        try fixture.rewrite(server: settings, ("key identity.pem", "key next.pem; key identity.pem"))
        try await fixture.realms.reload()
        _ = try Self.claims(try await application.send(.get, "/token", basic("ann")).text, by: next)
    }

    @Test func `a text that is no host gets no token`() async throws {
        let fixture = try await RealmsFixture()
        _ = try Self.writeKey("identity.pem", to: fixture.folder)
        try fixture.rewrite(server: "trusted-proxies none; identity-token { key identity.pem; }")
        try await fixture.realms.reload()
        for host in ["", "a b", "shop.example/path", "https://shop.example"] {
            let application = try Self.application(fixture, for: host)
            #expect(try await application.send(.get, "/token", basic("ann")).status == 500, "\(host)")
        }
    }
}
