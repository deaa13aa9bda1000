// SPDX-License-Identifier: Apache-2.0

import OpenSSLKit
import RealmKit
import TLSTesting
import Testing

@testable import RealmBasics

/// The user names, groups and attributes that are taken from certificates.
struct NameTests {
    typealias Text = CertificateTemplate.Text

    private static let commonName = "2.5.4.3"
    private static let unit = "2.5.4.11"

    /// A certificate with every kind of name.
    private static let full: CertificateTemplate = {
        var template = CertificateTemplate()
        template.subject = [
            [("2.5.4.6", .printable("DE"))], [("2.5.4.10", .utf8("Town"))], [(unit, .utf8("Staff"))],
            [(unit, .utf8("Admin"))], [(commonName, .utf8("ann"))],
        ]
        template.names = [
            (1, Array("ann@town.example".utf8)), (2, Array("ann.town.example".utf8)), (6, Array("urn:people:ann".utf8)),
        ]
        template.principalNames = [.utf8("ann@TOWN.EXAMPLE")]
        return template
    }()

    @Test(arguments: [
        ("subject", "CN=ann,OU=Admin,OU=Staff,O=Town,C=DE"), ("common-name", "ann"), ("email", "ann@town.example"),
        ("upn", "ann@TOWN.EXAMPLE"), ("uri", "urn:people:ann"), ("dns", "ann.town.example"),
    ])
    func `the name is taken from the configured part of the certificate`(source: String, name: String) async throws {
        let outcome = try await Fixture.login(Self.full, ["name-from": [source]])
        #expect(outcome.name == name)
        #expect(outcome.attributes.values(of: "mail") == ["ann@town.example"])
    }

    @Test func `GlassFish's properties have their meaning`() async throws {
        let outcome = try await Fixture.login(
            Self.full,
            ["common-name-as-principal-name": ["true"], "dn-parts-used-for-groups": ["OU,C"]]
        )
        #expect(outcome.name == "ann")
        #expect(outcome.groups == ["Staff", "Admin", "DE"])
    }

    @Test(arguments: [["OU"], ["ou"], ["2.5.4.11"]])
    func `groups are taken from parts of the subject`(parts: [String]) async throws {
        #expect(try await Fixture.login(Self.full, ["groups-from": parts]).groups == ["Staff", "Admin"])
    }

    @Test func `names are neither cut nor changed`() async throws {
        for name in ["Ann", "ann ", " ann", "a\u{301}nn", "\u{E1}nn", "ann/host=evil", "ann,CN=bob", "-ann", "a+b"] {
            var template = CertificateTemplate()
            template.subject = [[(Self.commonName, .utf8(name))]]
            let outcome = try await Fixture.login(template, ["name-from": ["common-name"]])
            if name.hasPrefix(" ") || name.hasSuffix(" ") {
                #expect(outcome.kind == .unusableCredential)
            } else {
                #expect(outcome.name.map { Array($0.utf8) } == Array(name.utf8))
            }
        }
    }

    // MARK: Ambiguous certificates

    /// A change of a certificate, the source of the name, and a part of the log line.
    struct Ambiguity: Sendable, CustomTestStringConvertible {
        let source: String
        let log: String
        let change: @Sendable (inout CertificateTemplate) -> Void
        var testDescription: String { "\(source): \(log)" }

        init(_ source: String, _ log: String, _ change: @escaping @Sendable (inout CertificateTemplate) -> Void) {
            (self.source, self.log, self.change) = (source, log, change)
        }
    }

    private static func subject(_ source: String, _ log: String, _ text: Text) -> Ambiguity {
        Ambiguity(source, log) { $0.subject = [[(commonName, text)]] }
    }

    private static func alternative(_ source: String, _ log: String, _ tag: UInt8, _ texts: String...) -> Ambiguity {
        Ambiguity(source, log) { $0.names = texts.map { (tag, Array($0.utf8)) } }
    }

    static let ambiguities: [Ambiguity] = [
        Ambiguity("common-name", "has 2 values for the common name") {
            $0.subject = [[(commonName, .utf8("ann"))], [(commonName, .utf8("bob"))]]
        },
        Ambiguity("common-name", "has no common name") { $0.subject = [[(unit, .utf8("Staff"))]] },
        Ambiguity("common-name", "several values (+)") {
            $0.subject = [[(commonName, .utf8("ann")), (unit, .utf8("Staff"))]]
        },
        Ambiguity("subject", "several values (+)") {
            $0.subject = [[(commonName, .utf8("ann")), (unit, .utf8("Staff"))]]
        },
        Ambiguity("email", "several values (+)") {
            $0.subject = [[(commonName, .utf8("ann")), (unit, .utf8("Staff"))]]
            $0.names = [(1, Array("ann@town.example".utf8))]
        },
        Ambiguity("subject", "the subject is empty") { $0.subject = [] },
        subject("common-name", "contains a control character", .utf8("ann\0.evil")),
        subject("subject", "contains a control character", .utf8("ann\0.evil")),
        subject("common-name", "contains a control character", .utf8("ann\nbob")),
        subject("common-name", "contains a control character", .utf8("ann\u{85}")),
        subject("common-name", "contains a control character", .utf8("ann\u{2028}")),
        subject("common-name", "is empty", .utf8("")),
        subject("subject", "part 2.5.4.3 of the subject begins or ends with white space", .utf8("ann ")),
        subject("common-name", "begins or ends with white space", .printable(" ann")),
        subject("common-name", "begins or ends with white space", .utf8("ann\u{3000}")),
        alternative("email", "begins or ends with white space", 1, "ann@town.example "),
        Ambiguity("common-name", "part 2.5.4.11 of the subject begins or ends with white space") {
            $0.subject = [[(unit, .utf8("admin "))], [(commonName, .utf8("ann"))]]
        },
        subject("common-name", "cannot be read", Text(tag: 0x0C, bytes: [0x61, 0xC3, 0x28])),
        subject("common-name", "cannot be read", Text(tag: 0x0C, bytes: [0xC0, 0x80])),
        subject("common-name", "is of an ASN.1 type", .bmp("ann")),
        subject("common-name", "is of an ASN.1 type", .teletex("ann")),
        subject("common-name", "is of an ASN.1 type", Text(tag: 0x1C, bytes: [0, 0, 0, 0x61])),
        subject("common-name", "cannot be read", Text(tag: 0x04, bytes: [0x61])),
        subject("common-name", "is not ASCII", Text(tag: 0x13, bytes: [0xE1])),
        subject("common-name", "longer than 1024 bytes", .utf8(String(repeating: "a", count: 1025))),
        alternative("email", "has no mail address", 2, "town.example"),
        alternative("email", "has 2 values for the mail address", 1, "ann@town.example", "bob@town.example"),
        alternative("email", "has 2 values for the mail address", 1, "ann@town.example", "ann@town.example"),
        alternative("email", "contains a control character", 1, "ann@town.example\0@evil.example"),
        alternative("email", "exactly one @", 1, "ann@evil.example@town.example"),
        alternative("email", "exactly one @", 1, "ann"),
        alternative("email", "exactly one @", 1, "@town.example"),
        alternative("email", "is not ASCII", 1, "\u{E1}nn@town.example"),
        alternative("email", "is empty", 1, ""),
        alternative("dns", "has 2 values for the DNS name", 2, "a.example", "b.example"),
        alternative("dns", "contains a control character", 2, "a.example\0.evil"),
        alternative("uri", "has 2 values for the URI", 6, "urn:a", "urn:b"),
        alternative("uri", "has no URI", 2, "a.example"),
        Ambiguity("upn", "has 2 values for the user principal name") {
            $0.principalNames = [.utf8("ann@town.example"), .utf8("bob@town.example")]
        },
        Ambiguity("upn", "is not a UTF8String") { $0.principalNames = [.ia5("ann@town.example")] },
        Ambiguity("upn", "contains a control character") { $0.principalNames = [.utf8("ann\0@town.example")] },
        Ambiguity("upn", "has no user principal name") { $0.principalNames = [] },
        Ambiguity("email", "cannot be read") {
            $0.names = [(1, Array("ann@town.example".utf8))]
            $0.repeatsNames = true
        },
        Ambiguity("email", "cannot be read") {
            $0.names = [(1, Array("ann@town.example".utf8))]
            $0.bytesAfterNames = [0x05, 0x00]
        },
    ]

    @Test(arguments: ambiguities)
    func `an ambiguous certificate is rejected with its reason`(ambiguity: Ambiguity) async throws {
        var template = CertificateTemplate()
        ambiguity.change(&template)
        let outcome = try await Fixture.login(template, ["name-from": [ambiguity.source]])
        #expect(outcome.name == nil)
        #expect(outcome.kind == .unusableCredential)
        #expect(outcome.log.contains(ambiguity.log), "\(outcome.log)")
    }

    // MARK: Certificates that are not accepted

    @Test func `a certificate that is not for client authentication is rejected`() async throws {
        var template = CertificateTemplate()
        for usages in [nil, ["1.3.6.1.5.5.7.3.1"], ["2.5.29.37.0"], ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.4"]] {
            template.usages = usages
            let outcome = try await Fixture.login(template)
            #expect(outcome.kind == .permissionDenied)
            #expect(outcome.log.contains("not for client authentication"))
            #expect(try await Fixture.login(template, ["require-extended-key-usage": ["none"]]).name != nil)
        }
        template.usages = ["1.3.6.1.5.5.7.3.1", "1.3.6.1.5.5.7.3.2"]
        #expect(try await Fixture.login(template).name != nil)
    }

    @Test func `a certificate is accepted during its validity period only`() async throws {
        var template = CertificateTemplate()
        template.validity = ("20260101000000Z", "20260102000000Z")
        #expect(try await Fixture.login(template, now: Fixture.now).name != nil)
        #expect(try await Fixture.login(template, now: Fixture.now + 86_400).name != nil)
        let late = try await Fixture.login(template, now: Fixture.now + 86_401)
        #expect(late.kind == .credentialExpired)
        #expect(late.log == "the certificate has expired")
        let early = try await Fixture.login(template, now: Fixture.now - 1)
        #expect(early.kind == .credentialExpired)
        #expect(early.log == "the certificate is not valid yet")
    }

    @Test func `only the accepted issuers may issue certificates`() async throws {
        let template = CertificateTemplate()
        #expect(try await Fixture.login(template, ["issuers": ["CN=Other", "CN=Town CA,O=Town"]]).name != nil)
        for issuer in ["CN=Town CA", "cn=Town CA,O=Town", "CN=Town CA,O=Town ", "O=Town,CN=Town CA"] {
            let outcome = try await Fixture.login(template, ["issuers": [issuer]])
            #expect(outcome.kind == .permissionDenied)
            #expect(outcome.log == "the issuer is not accepted: CN=Town CA,O=Town")
        }
    }

    @Test(arguments: [
        ("ann@town.example", true), ("ann@TOWN.example", true), ("ann@sub.town.example", false),
        ("ann@eviltown.example", false), ("ann@town.example.evil", false), ("ann@a.city.example", true),
        ("ann@city.example", false), ("ann@.city.example", false), ("ann@other.example", false),
    ])
    func `an issuer may only name users of its domains`(email: String, isAccepted: Bool) async throws {
        var template = CertificateTemplate()
        template.names = [(1, Array(email.utf8))]
        let domains = [
            "CN=Town CA,O=Town -> town.example", "CN=Town CA,O=Town -> .city.example", "CN=X -> other.example",
        ]
        let outcome = try await Fixture.login(template, ["name-from": ["email"], "issuer-domains": domains])
        #expect((outcome.name == email) == isAccepted)
        if !isAccepted { #expect(outcome.kind == .permissionDenied) }
    }

    @Test func `an issuer without a domain, and a name without a domain, are rejected`() async throws {
        let rules = ["name-from": ["common-name"], "issuer-domains": ["CN=Town CA,O=Town -> town.example"]]
        #expect(try await Fixture.login(CertificateTemplate(), rules).kind == .permissionDenied)
        var template = CertificateTemplate()
        template.subject = [[(Self.commonName, .utf8("ann@town.example"))]]
        #expect(try await Fixture.login(template, rules).name == "ann@town.example")
        template.issuer = [[(Self.commonName, .utf8("Town CA"))]]
        #expect(try await Fixture.login(template, rules).kind == .permissionDenied)
    }

    @Test func `bytes that are not one certificate are rejected`() async throws {
        let der = CertificateTemplate().der
        let stack = Fixture.stack([.init(try Fixture.module(of: Fixture.realm()), .required)])
        for bytes in [[], [0x30], der + [0], Array(der.dropLast()), der + der] {
            let outcome = try await Fixture.login(bytes, stack: stack)
            #expect(outcome.name == nil)
            #expect(outcome.kind == .unusableCredential)
        }
        #expect(try await Fixture.login(der, stack: stack).name == "CN=ann,O=Town")
    }
}
