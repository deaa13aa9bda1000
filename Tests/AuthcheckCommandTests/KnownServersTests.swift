// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLKit
import Testing

@testable import AuthcheckRemote

@Suite struct KnownServersTests {
    private static let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test func `entries are read, and other lines are reported with their numbers and kept`() throws {
        let text = """
            # a comment

            https://a.example pin=\(Self.pin) user=an%20n%0Ax token-file=/etc/a%25b
            http://b.example pin=\(Self.pin)
            https://c.example pin=sha256//AAAA
            https://d.example user
            https://e.example colour=red
            https://f.example user=a user=b
            https://a.example user=other
            https://G.example user=a
            https://h.example:8443/gatehouse ca=/etc/ca.pem
            """
        var servers = KnownServers(text, path: "known")
        let first = try #require(servers.entry(of: "https://a.example"))
        #expect(first.line == 3)
        #expect(first.server.user == "an n\nx" && first.server.tokenFile == "/etc/a%b")
        #expect(first.server.key == (try Digest.sha256([])))
        #expect(servers.entry(of: "https://h.example:8443/gatehouse")?.server.authorities == "/etc/ca.pem")
        #expect(servers.badLines.map(\.number) == [4, 5, 6, 7, 8, 9, 10])
        #expect(servers.badLines[5].reason == "a second line for https://a.example")
        #expect(servers.text == text + "\n")
        var changed = first.server
        changed.user = "ünal\r\n"
        servers.remember(changed)
        var added = KnownServer(url: "https://z.example")
        added.tokenFile = "/home/a b/=token"
        servers.remember(added)
        let again = KnownServers(servers.text, path: "known")
        #expect(again.badLines.map(\.number) == [4, 5, 6, 7, 8, 9, 10])
        #expect(again.entry(of: "https://a.example")?.server.user == "ünal\r\n")
        #expect(again.entry(of: "https://z.example")?.server.tokenFile == "/home/a b/=token")
        #expect(again.text.utf8.split(separator: 0x0A).count == servers.text.utf8.split(separator: 0x0A).count)
    }

    @Test func `the file is private, is written in one step, and is refused if others may change it`() throws {
        let folder = try TemporaryFolder([:])
        let path = folder.path("config/gatehouse/known_servers")
        #expect(try KnownServers(file: path).text.isEmpty)
        try KnownServers.remember(KnownServer(url: "https://a.example"), in: path)
        #expect(try KnownServers(file: path).entry(of: "https://a.example")?.line == 1)
        let mode = { (path: String) in
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        #expect(try mode(path) == 0o600)
        #expect(try mode(folder.path("config/gatehouse")) == 0o700)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("config/gatehouse"))
        #expect(names.sorted() == [".known_servers.lock", "known_servers"])
        try FileManager.default.setAttributes([.posixPermissions: 0o620], ofItemAtPath: path)
        #expect(throws: KnownServers.Fault.self) { try KnownServers(file: path) }
        #expect(throws: KnownServers.Fault.self) { try KnownServers(file: folder.path("config")) }
    }

    @Test func `entries that are written at the same time are all kept`() async throws {
        let folder = try TemporaryFolder([:])
        let path = folder.path("config/gatehouse/known_servers")
        let queue = DispatchQueue(label: "writers", attributes: .concurrent)
        let failures = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        queue.async {
                            let server = KnownServer(url: "https://host\(number).example")
                            let isWritten = (try? KnownServers.remember(server, in: path)) != nil
                            continuation.resume(returning: !isWritten)
                        }
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 0)
        let servers = try KnownServers(file: path)
        for number in 0..<16 { #expect(servers.entry(of: "https://host\(number).example") != nil, "\(number)") }
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path("config/gatehouse"))
        #expect(names.sorted() == [".known_servers.lock", "known_servers"])
    }

    @Test(arguments: [
        ("https://Auth.Example", "https://auth.example"), ("HTTPS://a:443/", "https://a"),
        ("https://a:8443/Gatehouse/", "https://a:8443/Gatehouse"), ("https://[::1]:8443", "https://[::1]:8443"),
        ("http://a", nil), ("https://", nil), ("https://:8443", nil), ("https://u:p@a", nil), ("https://a?x", nil),
        ("https://a#x", nil), ("https://a b", nil), ("https://ä", nil), ("auth.example", nil), ("-x", nil),
    ])
    func `the URL of a server has one spelling`(text: String, url: String?) {
        #expect(ServerURL(text)?.description == url)
    }

    @Test func `a fingerprint has three spellings`() throws {
        let digest = try Digest.sha256([])
        #expect(Digest(pin: Self.pin) == digest)
        #expect(Digest(pin: digest.hex) == digest)
        #expect(Digest(pin: digest.fingerprint) == digest)
        #expect(Digest(pin: digest.hex.uppercased()) == digest)
        for text in ["", "yes", "sha256//", "sha1//AAAA", String(digest.hex.dropLast()), "sha256/" + Self.pin] {
            #expect(Digest(pin: text) == nil)
        }
    }
}
