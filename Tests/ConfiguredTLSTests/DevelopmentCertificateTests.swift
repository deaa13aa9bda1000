// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import LoginConf
import OpenSSLKit
import RealmConfiguration
import RealmKit
import RealmTesting
import Synchronization
import TLSTesting
import Testing

@testable import ConfiguredTLS

/// The development certificate and its authority, with the clock moved.
@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct DevelopmentCertificateTests {
    private final class Folder: Sendable {
        let path = "/tmp/gatehouse-\(UUID().uuidString)"
        private let time = Mutex(1_800_000_000)

        init() throws { try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }

        deinit { try? FileManager.default.removeItem(atPath: path) }

        var clock: WallClock { WallClock { self.time.withLock { $0 } } }

        func wait(days: Int) { time.withLock { $0 += days * 86_400 } }

        func settings(_ others: String = "") throws -> Configuration {
            let text = Array("server { state \"\(path)/var\"; \(others) }".utf8)
            let files = ConfigurationFiles(read: { _ in .success(text) }, environment: { _ in nil })
            return try ConfigurationLoader(builtInRealms, files: files, clock: ManualClock()).load("realms.conf")
        }

        func start() throws -> ServerTLS {
            try ServerTLS.load(settings().server, files: .system, clock: clock)
        }

        func check() throws -> ServerTLS? { try ServerTLS.check(settings().server, files: .system, clock: clock).tls }

        func text(_ name: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/var/\(name)")))
        }

        /// The authorities that a proxy trusts which has a copy of the file.
        func authorities(_ name: String = "development-authority.pem") throws -> [Certificate] {
            try Certificate.chain(pem: text(name), name: name)
        }

        /// Returns whether OpenSSL trusts a server now, with these authorities only.
        func isTrusted(_ tls: ServerTLS, by authorities: [Certificate]) throws -> Bool {
            for (name, certificates) in [("leaf", [tls.certificate.identity.leaf]), ("trusted", authorities)] {
                let text = try certificates.map { try $0.pem() }.joined()
                try Data(text.utf8).write(to: URL(fileURLWithPath: "\(path)/\(name).pem"))
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: TestPKI.openssl)
            process.arguments = [
                "verify", "-attime", "\(clock.seconds)", "-purpose", "sslserver", "-verify_hostname", "localhost",
                "-verify_ip", "::1", "-no-CApath", "-no-CAstore", "-CAfile", "\(path)/trusted.pem", "\(path)/leaf.pem",
            ]
            process.standardInput = FileHandle.nullDevice
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            try process.run()
            process.waitUntilExit()
            return process.terminationStatus == 0
        }

        func expiring() throws -> [String] {
            try ExpiringCertificates(settings(), files: .system).warnings(at: clock).map(\.message)
        }

        /// Makes the self-signed certificate of an older version.
        func makeOlder(days: Int = 365) throws -> Certificate {
            try FileManager.default.createDirectory(
                atPath: "\(path)/var",
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
            let (certificate, key) = try SelfSignedCertificate.make(
                dnsNames: ["localhost"],
                ipAddresses: ["127.0.0.1", "::1"],
                validFor: days,
                now: Int64(clock.seconds)
            )
            let pem = try key.withPEM { span in span.indices.map { span[$0] } }
            for (name, bytes) in ["certificate": Array(try certificate.pem().utf8), "key": pem] {
                try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/var/development-\(name).pem"))
            }
            return certificate
        }
    }

    @Test func `a proxy with a copy of the authority trusts every certificate of ten years`() throws {
        let folder = try Folder()
        #expect(try folder.check() == nil)
        var tls = try folder.start()
        let key = try tls.certificate.identity.leaf.publicKeyDigest()
        let copies = try [folder.authorities(), folder.authorities("development-certificate.pem")]
        var fingerprints: Set<String> = []
        for _ in 0..<115 {
            for copy in copies { #expect(try folder.isTrusted(tls, by: copy)) }
            #expect(tls.certificate.identity.leaf.notAfter >= Int64(folder.clock.seconds) + 28 * 86_400)
            #expect(try tls.certificate.identity.leaf.publicKeyDigest() == key)
            fingerprints.insert(tls.certificate.fingerprint)
            #expect(try folder.expiring() == [])
            folder.wait(days: 31)
            // A running server, and one that is started.
            if tls.isRenewalDue { tls = try tls.renewed(folder.settings().server, files: .system) }
            #expect(try folder.check()?.certificate.fingerprint == tls.certificate.fingerprint)
            #expect(try folder.start().certificate.fingerprint == tls.certificate.fingerprint)
        }
        #expect(fingerprints.count == 12, "\(fingerprints.count)")
    }

    @Test func `the end of the authority is named 30 days before, and then there is another one`() throws {
        let folder = try Folder()
        _ = try folder.start()
        let copy = try folder.authorities()
        folder.wait(days: 3650 - 29)
        #expect(try folder.isTrusted(folder.start(), by: copy))
        #expect(
            try folder.expiring() == [
                "certificate CN=Gatehouse development authority in \(folder.path)/var/development-authority.pem expires on 2037-01-12 08:00 UTC, in 29 days"
            ]
        )
        folder.wait(days: 30)
        let next = try folder.start()
        #expect(try !folder.isTrusted(next, by: copy))
        #expect(try folder.isTrusted(next, by: folder.authorities()))
        #expect(try folder.expiring() == [])
    }

    @Test func `a start with the clock behind replaces neither the authority nor its certificate`() throws {
        let folder = try Folder()
        let first = try folder.start()
        let copy = try folder.authorities()
        folder.wait(days: -400)
        let early = try folder.start()
        #expect(early.certificate.fingerprint == first.certificate.fingerprint && !early.isRenewalDue)
        #expect(early.warnings.map(\.message) == ["certificate CN=localhost is not valid yet"])
        #expect(try folder.check()?.warnings == early.warnings)
        // Nor does the loss of the certificate replace the authority.
        try FileManager.default.removeItem(atPath: "\(folder.path)/var/development-certificate.pem")
        let second = try folder.start()
        folder.wait(days: 400)
        #expect(try folder.authorities() == copy)
        #expect(try folder.isTrusted(first, by: copy) && folder.isTrusted(second, by: copy))
        let third = try folder.start()
        #expect(third.certificate.fingerprint == second.certificate.fingerprint && third.warnings == [])
    }

    @Test func `a start with the clock behind goes on with the certificate of an older version`() throws {
        let folder = try Folder()
        let older = try folder.makeOlder()
        folder.wait(days: -100)
        #expect(try folder.start().certificate.fingerprint == older.fingerprint)
        folder.wait(days: 100)
        let tls = try folder.start()
        #expect(try tls.certificate.fingerprint == older.fingerprint && folder.isTrusted(tls, by: folder.authorities()))
    }

    @Test func `the renewal in a running server reads no other file`() throws {
        let folder = try Folder()
        let file = "\(folder.path)/ca.pem"
        let authority = try LocalhostAuthority.make(validFor: 3650, now: Int64(folder.clock.seconds)).leaf
        try authority.pem().write(toFile: file, atomically: true, encoding: .utf8)
        let server = try folder.settings("tls { client-certificates optional; client-ca \"\(file)\"; }").server
        let tls = try ServerTLS.load(server, files: .system, clock: folder.clock)
        try FileManager.default.removeItem(atPath: file)
        folder.wait(days: 310)
        #expect(tls.isRenewalDue)
        let renewed = try tls.renewed(server, files: .system)
        #expect(renewed.certificate.fingerprint != tls.certificate.fingerprint && !renewed.isRenewalDue)
        #expect(renewed.context.configuration.clientCertificates?.mode == .optional)
        #expect(try folder.isTrusted(renewed, by: folder.authorities()))
    }

    @Test func `the keys are secret, and that of the authority belongs to it`() throws {
        let folder = try Folder()
        let tls = try folder.start()
        let authority = try #require(folder.authorities().first)
        for (name, mode) in ["development-authority-key.pem": 0o600, "development-key.pem": 0o600] {
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(folder.path)/var/\(name)")
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
        let key = try PrivateKey(pem: folder.text("development-authority-key.pem"), name: "key")
        let identity = try TLSIdentity(certificateChain: [authority], privateKey: key)
        #expect(try tls.certificate.identity.leaf.isIssued(by: identity.leaf))
    }

    @Test func `the certificate of an older version is used until its last day, and its copies can be replaced before`()
        throws
    {
        let folder = try Folder()
        let older = try folder.makeOlder()
        let before = try #require(try folder.check())
        #expect(before.warnings.count == 1)
        #expect(before.warnings[0].message.contains("which the next start of the server makes"))
        var tls = try folder.start()
        #expect(tls.certificate.fingerprint == older.fingerprint)
        #expect(tls.warnings.count == 1, "\(tls.warnings)")
        #expect(tls.warnings[0].message.contains("replace the copies of it"))
        let copy = try folder.authorities()
        #expect(copy.count == 2)
        #expect(try folder.expiring() == [])
        folder.wait(days: 340)
        #expect(!tls.isRenewalDue)
        #expect(try folder.expiring().count == 1)
        #expect(try folder.isTrusted(tls, by: copy) && folder.isTrusted(tls, by: [older]))
        folder.wait(days: 25)
        #expect(tls.isRenewalDue)
        tls = try tls.renewed(folder.settings().server, files: .system)
        #expect(tls.certificate.fingerprint != older.fingerprint && tls.warnings == [])
        #expect(try folder.isTrusted(tls, by: copy) && !folder.isTrusted(tls, by: [older]))
        #expect(try folder.authorities().count == 1)
        #expect(try folder.expiring() == [])
    }

    @Test func `an expired certificate of an older version is replaced at the start`() throws {
        let folder = try Folder()
        let older = try folder.makeOlder(days: 9)
        folder.wait(days: 10)
        #expect(try folder.check() == nil)
        let tls = try folder.start()
        #expect(tls.certificate.fingerprint != older.fingerprint)
        #expect(try folder.isTrusted(tls, by: folder.authorities()))
    }

    @Test(arguments: ["development-authority.pem", "development-certificate.pem", "development-key.pem"])
    func `a file that is missing or broken is made again, with a certificate that the authority has issued`(
        name: String
    ) throws {
        let folder = try Folder()
        _ = try folder.start()
        for text in [nil, "broken"] as [String?] {
            let path = "\(folder.path)/var/\(name)"
            try FileManager.default.removeItem(atPath: path)
            if let text { try text.write(toFile: path, atomically: true, encoding: .utf8) }
            #expect(try folder.isTrusted(folder.start(), by: folder.authorities()))
            #expect(try folder.check()?.warnings == [])
        }
    }
}
