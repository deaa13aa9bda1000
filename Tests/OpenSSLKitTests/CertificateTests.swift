// SPDX-License-Identifier: Apache-2.0

import Foundation
import OpenSSLKit
import TLSTesting
import Testing

@Suite struct CertificateTests {
    @Test func `a self-signed certificate has the requested names, addresses and validity`() throws {
        let made = try SelfSignedCertificate.make(
            dnsNames: ["localhost", "*.example.test"],
            ipAddresses: ["127.0.0.1", "::1"],
            validFor: 30,
            now: 1_700_000_000
        )
        let certificate = made.certificate
        #expect(certificate.subject == "CN=localhost")
        #expect(certificate.issuer == certificate.subject)
        #expect(certificate.dnsNames == ["localhost", "*.example.test"])
        #expect(certificate.ipAddresses == ["127.0.0.1", "0:0:0:0:0:0:0:1"])
        #expect(certificate.notBefore == 1_699_999_700)
        #expect(certificate.notAfter == 1_700_000_000 + 30 * 86_400)
        #expect(try made.key.belongs(to: certificate))
        #expect(try !PrivateKey.makeP256().belongs(to: certificate))
    }

    @Test(
        arguments: [
            (nil, true), (["1.3.6.1.5.5.7.3.1"], true), (["1.3.6.1.5.5.7.3.2"], false), (["2.5.29.37.0"], true),
            (["1.3.6.1.5.5.7.3.2", "1.3.6.1.5.5.7.3.1"], true), (["1.3.6.1.5.5.7.3.3", "1.3.6.1.5.5.7.3.4"], false),
        ] as [([String]?, Bool)]
    )
    func `a certificate is for servers unless its purposes exclude them`(usages: [String]?, isForServers: Bool) throws {
        var template = CertificateTemplate()
        template.usages = usages
        #expect(try Certificate(der: template.der, context: "test").isForServers == isForServers)
    }

    @Test func `validity is checked at the given time`() throws {
        let made = try SelfSignedCertificate.make(dnsNames: ["a"], ipAddresses: [], validFor: 1, now: 1_700_000_000)
        try made.certificate.checkValidity(at: 1_700_000_000)
        try made.certificate.checkValidity(at: 1_700_086_400)
        #expect(throws: OpenSSLError(.certificateExpired, context: "")) {
            try made.certificate.checkValidity(at: 1_700_086_401)
        }
        #expect(throws: OpenSSLError(.certificateNotYetValid, context: "")) {
            try made.certificate.checkValidity(at: 1_600_000_000)
        }
    }

    @Test(arguments: [
        "", "-a", "a-", "a..b", "a,DNS:b", "a b", "ä", "a/b", ".", "*.", "a.*", String(repeating: "a", count: 64),
    ])
    func `an invalid host name gets no certificate`(name: String) {
        #expect(throws: OpenSSLError(.invalidName, context: "")) {
            try SelfSignedCertificate.make(dnsNames: ["good", name], ipAddresses: [], validFor: 1, now: 0)
        }
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "256.1.1.1", ":::", "localhost", "127.0.0.1,DNS:b"])
    func `an invalid address gets no certificate`(address: String) {
        #expect(throws: OpenSSLError(.invalidName, context: "")) {
            try SelfSignedCertificate.make(dnsNames: ["good"], ipAddresses: [address], validFor: 1, now: 0)
        }
    }

    @Test func `certificates and keys that are written as PEM can be read again`() throws {
        let made = try localIdentity()
        let other = try localIdentity()
        let text = "a comment\n" + (try made.leaf.pem()) + (try made.privateKey.pemText()) + (try other.leaf.pem())
        let chain = try Certificate.chain(pem: Array(text.utf8), name: "both.pem")
        #expect(chain == [made.leaf, other.leaf])
        #expect(chain.first?.fingerprint == made.leaf.fingerprint)
        let key = try PrivateKey(pem: Array(text.utf8), name: "both.pem")
        #expect(try key.belongs(to: made.leaf))
    }

    @Test func `two certificates for the same names differ`() throws {
        #expect(try localIdentity().leaf != localIdentity().leaf)
    }

    @Test func `an identity with the key of another certificate is refused`() throws {
        let certificate = try localIdentity().leaf
        let error = #expect(throws: OpenSSLError.self) {
            try TLSIdentity(certificateChain: [certificate], privateKey: PrivateKey.makeP256())
        }
        #expect(error?.code == .keyMismatch)
        #expect(error?.description == "certificate CN=localhost: the key does not belong to the certificate")
        #expect(throws: OpenSSLError(.noCertificate, context: "")) {
            try TLSIdentity(certificateChain: [], privateKey: PrivateKey.makeP256())
        }
    }

    @Test(arguments: ["", "hello", "-----BEGIN CERTIFICATE-----", "\u{0}\u{1}"])
    func `a text without a certificate is refused, and the error contains the file name`(text: String) {
        let error = #expect(throws: OpenSSLError.self) {
            try Certificate.chain(pem: Array(text.utf8), name: "cert.pem")
        }
        #expect(error?.description.contains("cert.pem") == true)
        #expect(error?.code == (text.contains("BEGIN") ? .malformedCertificate : .noCertificate))
    }

    @Test func `a damaged certificate is refused, and the error contains its position in the file`() throws {
        let good = try localIdentity().leaf.pem()
        var lines = good.split(separator: "\n").map(String.init)
        lines[1] = "AAAA" + lines[1].dropFirst(4)
        let text = good + lines.joined(separator: "\n") + "\n"
        let error = #expect(throws: OpenSSLError.self) {
            try Certificate.chain(pem: Array(text.utf8), name: "cert.pem")
        }
        #expect(error?.code == .malformedCertificate)
        #expect(error?.context == "certificate file cert.pem, certificate 2")
        #expect(error?.reasons.isEmpty == false)
    }

    @Test func `a certificate that is truncated at any byte is refused`() throws {
        let text = Array(try localIdentity().leaf.pem().utf8)
        for count in stride(from: 0, to: text.count - 2, by: 7) {
            #expect(throws: OpenSSLError.self) { try Certificate.chain(pem: Array(text.prefix(count)), name: "cut") }
        }
    }

    @Test func `a missing private key and a damaged private key are different errors`() throws {
        let certificate = try localIdentity().leaf.pem()
        for text in ["", "hello", certificate] {
            #expect(throws: OpenSSLError(.noPrivateKey, context: "")) {
                try PrivateKey(pem: Array(text.utf8), name: "key.pem")
            }
        }
        let key = try PrivateKey.makeP256().pemText()
        var lines = key.split(separator: "\n").map(String.init)
        lines[1] = "AAAA" + lines[1].dropFirst(4)
        #expect(throws: OpenSSLError(.malformedPrivateKey, context: "")) {
            try PrivateKey(pem: Array(lines.joined(separator: "\n").utf8), name: "key.pem")
        }
    }

    @Test func `the description of a key does not contain its bytes`() throws {
        let key = try PrivateKey.makeP256()
        let secret = try key.pemText().split(separator: "\n")[1]
        #expect("\(key)" == "OpenSSLKit.PrivateKey")
        #expect(!String(reflecting: key).contains(secret))
    }
}

@Suite(.enabled(if: Tool.isInstalled(Tool.openssl), "needs the openssl command"))
struct CertificateToolTests {
    private func write(_ identity: TLSIdentity, to folder: URL) throws -> (certificate: String, key: String) {
        let certificate = folder.appendingPathComponent("cert.pem")
        let key = folder.appendingPathComponent("key.pem")
        try Data(identity.leaf.pem().utf8).write(to: certificate)
        try Data(identity.privateKey.pemText().utf8).write(to: key)
        return (certificate.path, key.path)
    }

    @Test func `openssl verify accepts the self-signed certificate with itself as CA`() throws {
        try Tool.withFolder { folder in
            let (file, _) = try write(localIdentity(), to: folder)
            let checks = ["-purpose", "sslserver", "-verify_hostname", "localhost", "-CAfile", file, file]
            let result = try Tool.run(Tool.openssl, ["verify", "-no-CApath"] + checks)
            #expect(result.status == 0, "\(result.output)")
        }
    }

    @Test func `openssl verify accepts what the authority for localhost issues, and no other name or purpose`() throws {
        try Tool.withFolder { folder in
            let authority = try LocalhostAuthority.make(validFor: 3650, now: secondsNow)
            let (root, rootKey) = try write(authority, to: folder)
            let leaf = try LocalhostAuthority.issue(
                for: .makeP256(),
                by: authority,
                until: secondsNow + 86_400,
                now: secondsNow
            )
            #expect(try leaf.isIssued(by: authority.leaf) && !authority.leaf.isIssued(by: leaf))
            let file = folder.appendingPathComponent("leaf.pem").path
            try leaf.pem().write(toFile: file, atomically: true, encoding: .utf8)
            func verify(_ file: String, _ options: String...) throws -> (status: Int32, output: String) {
                try Tool.run(Tool.openssl, ["verify", "-no-CApath", "-CAfile", root] + options + [file])
            }
            for name in [["-verify_hostname", "localhost"], ["-verify_ip", "127.0.0.1"], ["-verify_ip", "::1"]] {
                let result = try verify(file, "-x509_strict", "-purpose", "sslserver", name[0], name[1])
                #expect(result.status == 0, "\(result.output)")
            }
            #expect(try verify(file, "-purpose", "sslclient").status != 0)
            for name in ["DNS:example.org", "IP:127.0.0.2", "DNS:localhost,DNS:example.org", "IP:10.0.0.1"] {
                let other = folder.appendingPathComponent("other").path
                let extensions = "\(other).ext"
                try "subjectAltName=\(name)\n".write(toFile: extensions, atomically: true, encoding: .utf8)
                let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(other).key"]
                _ = try Tool.run(Tool.openssl, ["req"] + key + ["-subj", "/CN=x", "-out", "\(other).csr"])
                let issue = ["-CA", root, "-CAkey", rootKey, "-extfile", extensions, "-days", "9", "-set_serial", "7"]
                _ = try Tool.run(Tool.openssl, ["x509", "-req", "-in", "\(other).csr", "-out", "\(other).pem"] + issue)
                let result = try verify("\(other).pem")
                #expect(result.output.contains("permitted subtree violation"), "\(name): \(result.output)")
            }
        }
    }

    @Test func `openssl x509 shows the extensions`() throws {
        try Tool.withFolder { folder in
            let identity = try localIdentity()
            let (file, _) = try write(identity, to: folder)
            let text = try Tool.run(
                Tool.openssl,
                ["x509", "-in", file, "-noout", "-text", "-fingerprint", "-sha256"]
            ).output
            #expect(text.contains("Version: 3 (0x2)"))
            #expect(text.contains("ASN1 OID: prime256v1"))
            #expect(text.contains("Signature Algorithm: ecdsa-with-SHA256"))
            #expect(text.contains("X509v3 Basic Constraints: critical\n                CA:FALSE"))
            #expect(text.contains("X509v3 Key Usage: critical\n                Digital Signature"))
            #expect(text.contains("X509v3 Extended Key Usage: \n                TLS Web Server Authentication"))
            #expect(text.contains("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1"))
            #expect(text.contains("X509v3 Subject Key Identifier:"))
            #expect(text.contains("sha256 Fingerprint=\(identity.leaf.fingerprint)"))
        }
    }

    @Test func `openssl pkey reads the exported key`() throws {
        try Tool.withFolder { folder in
            let (_, file) = try write(localIdentity(), to: folder)
            #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
            let result = try Tool.run(Tool.openssl, ["pkey", "-in", file, "-noout", "-check"])
            #expect(result.output.contains("Key is valid"))
        }
    }

    @Test(arguments: ["pkcs8", "traditional"])
    func `an encrypted key is refused, and the error says that the key is encrypted`(form: String) throws {
        try Tool.withFolder { folder in
            let (_, file) = try write(localIdentity(), to: folder)
            let locked = folder.appendingPathComponent("locked.pem")
            let options = ["pkey", "-in", file, "-out", locked.path, "-aes256", "-passout", "pass:secret"]
            let result = try Tool.run(Tool.openssl, options + (form == "traditional" ? ["-traditional"] : []))
            #expect(result.status == 0, "\(result.output)")
            let error = #expect(throws: OpenSSLError.self) {
                try PrivateKey(pem: Array(Data(contentsOf: locked)), name: "locked.pem")
            }
            #expect(error?.code == .encryptedPrivateKey)
            let remedy = "the private key is encrypted; store it decrypted, readable only by the server"
            #expect(error?.description == "private key file locked.pem: \(remedy)")
        }
    }

    @Test(arguments: ["rsa:2048", "ed25519"])
    func `certificates with RSA and Ed25519 keys are loaded into a server context`(type: String) throws {
        try Tool.withFolder { folder in
            let (certificate, key) = (folder.path + "/c.pem", folder.path + "/k.pem")
            let result = try Tool.run(
                Tool.openssl,
                ["req", "-x509", "-newkey", type, "-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=t"]
            )
            #expect(result.status == 0, "\(result.output)")
            let identity = try TLSIdentity(
                certificateChain: Certificate.chain(
                    pem: Array(Data(contentsOf: URL(fileURLWithPath: certificate))),
                    name: "c"
                ),
                privateKey: PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: key))), name: "k")
            )
            #expect(identity.leaf.dnsNames.isEmpty)
            _ = try TLSContext(.server(identity))
        }
    }

    @Test func `a key too weak for 112 bits is refused`() throws {
        try Tool.withFolder { folder in
            let (certificate, key) = (folder.path + "/c.pem", folder.path + "/k.pem")
            let options = ["-nodes", "-keyout", key, "-out", certificate, "-subj", "/CN=weak"]
            _ = try Tool.run(Tool.openssl, ["req", "-x509", "-newkey", "rsa:1024"] + options)
            let identity = try TLSIdentity(
                certificateChain: Certificate.chain(
                    pem: Array(Data(contentsOf: URL(fileURLWithPath: certificate))),
                    name: "c"
                ),
                privateKey: PrivateKey(pem: Array(Data(contentsOf: URL(fileURLWithPath: key))), name: "k")
            )
            let error = #expect(throws: OpenSSLError.self) { try TLSContext(.server(identity)) }
            #expect(error?.code == .invalidConfiguration)
            #expect(error?.description.contains("ee key too small") == true)
        }
    }
}
