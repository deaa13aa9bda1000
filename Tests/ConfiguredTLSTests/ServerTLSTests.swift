// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import LoginConf
import OpenSSLKit
import RealmConfiguration
import RealmKit
import RealmTesting
import TLSTesting
import Testing

@testable import ConfiguredTLS

@Suite(.enabled(if: TestPKI.isPossible, "needs the openssl command"))
struct ServerTLSTests {
    let pki: TestPKI

    init() throws {
        pki = try TestPKI.shared.get()
    }

    /// Loads a realms.conf with a tls block.
    ///
    /// The files of the PKI and `others` are in the same folder.
    private func load<R>(
        _ tls: String,
        _ others: [String: [UInt8]] = [:],
        _ body: (ServerSettings, ConfigurationFiles) throws -> R
    ) throws -> R {
        let folder = pki.folder.path
        let text = Array("server { tls {\n\(tls)\n} state \"\(folder)/state\"; }".utf8)
        let system = ConfigurationFiles.system
        let files = ConfigurationFiles(
            read: { path in
                if path == "\(folder)/realms.conf" { return .success(text) }
                if let bytes = others[path.split(separator: "/").last.map(String.init) ?? ""] {
                    return .success(bytes)
                }
                return system.read(path)
            },
            environment: { _ in nil }
        )
        let loader = ConfigurationLoader(builtInRealms, files: files, clock: ManualClock())
        return try body(loader.load("\(folder)/realms.conf").server, files)
    }

    private func check(_ tls: String, _ others: [String: [UInt8]] = [:]) throws -> ServerTLS? {
        try load(tls, others) { try ServerTLS.check($0, files: $1, clock: .system).tls }
    }

    /// Returns the first diagnostic of a rejected configuration as line, column and message; nil if it is accepted.
    private func refusal(_ tls: String, _ others: [String: [UInt8]] = [:]) -> String? {
        do {
            _ = try check(tls, others)
            return nil
        } catch let error as ConfigurationErrors {
            return error.diagnostics.first.map { "\($0.line):\($0.column) \($0.message)" }
        } catch {
            return "\(error)"
        }
    }

    private static let own = "certificate server-chain.pem; key server.key; "

    @Test func `all settings of a tls block are loaded`() throws {
        let tls = try #require(
            try check(
                Self.own
                    + """
                    ocsp-response server.ocsp; minimum-version 1.2;
                    ciphers ECDHE-ECDSA-AES128-GCM-SHA256; ciphersuites TLS_AES_256_GCM_SHA384; groups P-256 X25519;
                    ticket-key a.key; ticket-key b.key;
                    client-certificates required; client-ca root.pem; client-crl root.crl; client-crl inter.crl; client-depth 2;
                    host other.test *.wild.test { certificate other-chain.pem; key other.key; ocsp-response other.ocsp; }
                    """,
                ["a.key": RandomBytes.make(80), "b.key": RandomBytes.make(80)]
            )
        )
        let configuration = tls.context.configuration
        #expect(tls.warnings.isEmpty)
        #expect(!tls.certificate.isDevelopment)
        #expect(tls.hostCertificates.count == 1)
        #expect(configuration.hosts.first?.names == ["other.test", "*.wild.test"])
        #expect(configuration.parameters.ciphersuites == ["TLS_AES_256_GCM_SHA384"])
        #expect(configuration.parameters.groups == ["P-256", "X25519"])
        #expect(configuration.clientCertificates?.mode == .required)
        #expect(configuration.clientCertificates?.maximumDepth == 2)
        #expect(configuration.clientCertificates?.revocationLists.count == 2)
        #expect(tls.ticketKeys?.count == 2)
    }

    @Test(arguments: [
        ("certificate none.pem; key server.key;", "2:13"), ("certificate server.pem; key other.key;", "2:29"),
        (own + "ocsp-response other.ocsp;", "2:61"), (own + "ocsp-response server.pem;", "2:61"),
        (own + "ocsp-response none.ocsp;", "2:61"),
        (own + "ciphers ECDHE-ECDSA-AES128-GCM-SHA256 HIGH;", "2:85"),
        (own + "ciphersuites TLS_AES_129;", "2:60"), (own + "groups X25519 X25519;", "2:61"),
        (own + "groups Q-256;", "2:54"), (own + "ticket-key short.key;", "2:58"),
        (own + "ticket-key none.key;", "2:58"),
        (own + "ticket-key zero.key;", "2:58"),
        (own + "client-certificates required; client-ca none.pem;", "2:87"),
        (own + "client-certificates required; client-ca empty.pem;", "2:87"),
        (own + "client-certificates optional; client-ca server.key;", "2:87"),
        (own + "client-certificates optional; client-ca client.pem;", "2:87"),
        (own + "client-certificates required; client-ca root.pem; client-crl empty.pem;", "2:108"),
        (own + "client-certificates required; client-ca root.pem; client-crl delta.crl;", "2:108"),
        (own + "host a_b { certificate other-chain.pem; key other.key; }", "2:52"),
        (own + "host b.test { certificate other-chain.pem; key server.key; }", "2:94"),
        ("client-certificates required; client-ca none.pem;", "2:41"),
    ])
    func `CVE-2026-27586: a file that cannot be used is reported at its setting in the configuration`(
        tls: String,
        place: String
    ) throws {
        let others: [String: [UInt8]] = [
            "delta.crl": Array(TestPKI.deltaList.utf8), "empty.pem": [], "short.key": [1, 2, 3],
            "zero.key": [UInt8](repeating: 0, count: 80),
        ]
        let message = refusal(tls, others)
        #expect(message?.hasPrefix(place + " ") == true, "\(message ?? "accepted")")
    }

    @Test(arguments: ["", "host a.test { "])
    func `a certificate and a key that are exchanged are named, with the correction`(host: String) throws {
        let message = refusal(host + "certificate server.key; key server-chain.pem; " + (host.isEmpty ? "" : "}"))
        let text = "certificate and key are exchanged: "
        #expect(message?.contains(" " + text) == true, "\(message ?? "accepted")")
        // One file with both is correct, and a wrong file alone is not an exchange.
        #expect(refusal("certificate server.key; key server.key;")?.contains(text) == false)
        #expect(refusal("certificate none.pem; key server-chain.pem;")?.contains(text) == false)
    }

    @Test func `an expired CRL and a certificate for another name cause warnings`() throws {
        let tls = try #require(
            try check(
                Self.own
                    + """
                    client-certificates optional; client-ca root.pem; client-crl old.crl;
                    host elsewhere.test { certificate other-chain.pem; key other.key; }
                    """
            )
        )
        let warnings = tls.warnings.map { "\($0.line):\($0.column) \($0.message)" }
        #expect(warnings.count == 2, "\(warnings)")
        #expect(warnings.contains { $0.hasPrefix("2:108 revocation list of ") && $0.contains("old.crl") })
        #expect(warnings.contains { $0.hasPrefix("3:") && $0.hasSuffix("is not valid for elsewhere.test") })
    }

    @Test func `an expired certificate of the server is an error of a check, and a server starts with it`() throws {
        let tls = "certificate expired-chain.pem; key expired.key;"
        let expected = "certificate CN=expired in \(pki.folder.path)/expired-chain.pem has expired on"
        #expect(refusal(tls)?.hasPrefix("2:13 \(expected)") == true, "\(refusal(tls) ?? "accepted")")
        let host = Self.own + "host expired.test { \(tls) }"
        #expect(refusal(host)?.contains(expected) == true, "\(refusal(host) ?? "accepted")")
        // The default certificate is one for development.
        let alone = "host expired.test { \(tls) }"
        #expect(refusal(alone)?.contains(expected) == true, "\(refusal(alone) ?? "accepted")")
        _ = try load(tls) { try ServerTLS.load($0, files: $1, clock: .system) }
    }

    @Test func `a check warns also if there is no development certificate yet`() throws {
        let host = "host elsewhere.test { certificate other-chain.pem; key other.key; }"
        let (tls, warnings) = try load(host) { try ServerTLS.check($0, files: $1, clock: .system) }
        #expect(tls == nil)
        #expect(warnings.map(\.message).contains { $0.hasSuffix("is not valid for elsewhere.test") }, "\(warnings)")
    }

    @Test func `each certificate that expires within 30 days is named at its setting, and its end is known`() throws {
        let text = """
            server { tls {
            certificate server-chain.pem; key server.key; client-certificates optional; client-ca root.pem;
            host other.test { certificate other-chain.pem; key other.key; } } }
            realm r { class RemoteRealm; url https://localhost:9/; ca-file inter.pem; client-certificate client.pem; client-key client.key; }
            login remoteRealm { RemoteLoginModule required; }
            """
        let path = pki.file("expiring.conf").path
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        let configuration = try ConfigurationLoader(builtInRealms, files: .system, clock: ManualClock()).load(path)
        let certificates = ExpiringCertificates(configuration, files: .system)
        let files = ["client.pem", "inter.pem", "other-chain.pem", "root.pem", "server-chain.pem"]
        #expect(certificates.expiryByFile.keys.sorted() == files.map { pki.file($0).path })
        let first = try #require(certificates.expiryByFile.values.min())
        func places(at time: Int64) -> Set<String> {
            Set(certificates.warnings(at: WallClock { Int(time) }).map { "\($0.line):\($0.column)" })
        }
        #expect(places(at: first - 31 * 86_400) == [])
        let last = try #require(certificates.expiryByFile.values.max())
        #expect(places(at: last - 29 * 86_400) == ["2:13", "2:87", "3:31", "4:64", "4:94"])
        let texts = certificates.warnings(at: WallClock { Int(first) + 1 }).map(\.message)
        #expect(texts.contains { $0.contains("has expired on") })
    }

    @Test func `a reload keeps generated ticket keys, and reads ticket key files again`() throws {
        let first = try load(Self.own) { try ServerTLS.load($0, files: $1, clock: .system) }
        let again = try load(Self.own) { try first.reloaded($0, files: $1) }
        #expect(first.ticketKeys != nil && again.ticketKeys === first.ticketKeys)
        #expect(again.context !== first.context)
        let file = try RandomBytes.make(80)
        let filed = try load(Self.own + "ticket-key a.key;", ["a.key": file]) { try again.reloaded($0, files: $1) }
        #expect(filed.ticketKeys !== first.ticketKeys)
        let own = try load(Self.own) { try filed.reloaded($0, files: $1) }
        #expect(own.ticketKeys !== filed.ticketKeys)
        let off = try load(Self.own + "session-tickets off;") { try first.reloaded($0, files: $1) }
        #expect(off.ticketKeys == nil)
    }

    @Test func `a check creates no certificate, but checks all settings`() throws {
        #expect(try check("client-certificates required; client-ca root.pem;") == nil)
        #expect(refusal("groups none;") == "2:8 OpenSSL does not support the group none")
    }
}
