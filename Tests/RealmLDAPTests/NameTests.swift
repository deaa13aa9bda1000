// SPDX-License-Identifier: Apache-2.0

#if LDAP
import RealmKit
import Testing

@testable import RealmLDAP

struct NameTests {
    // MARK: Distinguished names

    @Test(arguments: [
        ("", []), ("dc=org", ["dc=org"]), ("uid=ann, dc=org", ["uid=ann", "dc=org"]),
        ("cn=a\\, b,dc=org", ["cn=a, b", "dc=org"]), ("cn=a\\2c b,dc=org", ["cn=a, b", "dc=org"]),
        ("cn=\\C5\\BB,dc=org", ["cn=Ż", "dc=org"]), ("CN=A+OU=b,DC=org", ["cn=A+ou=b", "dc=org"]),
        ("cn=a\\+b\\=c\\\"d\\\\e\\<f\\>g\\;h", ["cn=a+b=c\"d\\e<f>g;h"]), ("cn=\\ a\\ ", ["cn= a "]),
        ("cn=\\#a", ["cn=#a"]), ("2.5.4.3=a", ["cn=a"]), ("2.5.4.4=a", ["2.5.4.4=a"]),
        ("cn=,dc=org", ["cn=", "dc=org"]),
        ("cn=(a*)", ["cn=(a*)"]),
    ])
    func `names are read by RFC 4514`(text: String, expected: [String]) throws {
        let name = try #require(DistinguishedName(text))
        let parts = name.names.map { parts in
            parts.map { "\($0.attribute)=\(String(decoding: $0.value, as: UTF8.self))" }.joined(separator: "+")
        }
        #expect(parts == expected)
    }

    @Test(arguments: [
        "a", "=a", "cn=a,", ",cn=a", "cn=a,,dc=b", "cn=a\\", "cn=a\\4", "cn=a\\zz", "cn=a+", "cn=a\0,dc=org", "cn=#0",
        "c n=a", "cn=a\"b", "cn=a;dc=b", "cn;lang-de=a", "cn\\;a=b", "cn=\ta", "cn=a\n", "cn=a,\ndc=b",
        "cn=a\\\\ ", "cn=a\\\\  ,dc=b", "cn=a\\\\ +ou=b", "cn=# 400ff", "cn=#", "cn=# ", "cn=#,dc=b", "cn=a,o=# ,dc=b",
        "cn=#0401 x", "cn=a,ou= #04 01 ,dc=b",
    ])
    func `texts that are no names are refused`(text: String) {
        #expect(DistinguishedName(text) == nil)
    }

    @Test func `a text of more than 8 KiB is no name, because libldap takes the square of the number of its parts`() {
        #expect(DistinguishedName(String(repeating: "cn=ab,", count: 1365) + "a=") != nil)
        #expect(DistinguishedName(String(repeating: "cn=ab,", count: 1365) + "a=b") == nil)
        #expect(DistinguishedName(String(repeating: "a=,", count: 1 << 20) + "a=") == nil)
    }

    @Test(arguments: [
        ("uid=Ann,DC=Org", "UID=ann, dc=org", true), ("cn=a+ou=b,dc=c", "OU=B+CN=A,dc=c", true),
        ("cn=Ż,dc=c", "cn=\\c5\\bc,dc=c", true), ("cn=a\\,b", "cn=a\\2Cb", true), ("cn=a,cn=b", "cn=b,cn=a", false),
        ("cn=a+ou=b", "cn=a,ou=b", false), ("cn=a\\,ou\\=b", "cn=a,ou=b", false), ("cn=a\\+ou\\=b", "cn=a+ou=b", false),
        ("cn=a", "ou=a", false), ("cn=é", "cn=e\\cc\\81", false),
    ])
    func `keys are equal for equal names only`(first: String, second: String, areEqual: Bool) throws {
        let keys = try [first, second].map { Array(try #require(DistinguishedName($0)).key.utf8) }
        #expect((keys[0] == keys[1]) == areEqual)
    }

    @Test(arguments: [
        ("cn=a,ou=g,dc=org", "ou=g,dc=org", true), ("CN=a,OU=G,DC=ORG", "ou=g, dc=org", true),
        ("ou=g,dc=org", "ou=g,dc=org", true), ("dc=org", "ou=g,dc=org", false), ("cn=a", "", true), ("", "", true),
        ("cn=a,ou=xg,dc=org", "ou=g,dc=org", false), ("cn=a\\,ou\\=g,dc=org", "ou=g,dc=org", false),
        ("cn=a,ou=g\\,dc\\=org", "ou=g,dc=org", false), ("cn=a,ou=g,dc=org", "ou=g+l=x,dc=org", false),
        ("cn=a,ou=g+l=x,dc=org", "l=X+ou=g,dc=org", true), ("cn=a,ou=g,dc=org,dc=com", "ou=g,dc=org", false),
    ])
    func `a name is within its ancestors only`(name: String, base: String, isWithin: Bool) throws {
        let base = try #require(DistinguishedName(base))
        #expect(try #require(DistinguishedName(name)).isWithin(base) == isWithin)
    }

    @Test func `the value of an attribute is that of the first relative name`() throws {
        let name = try #require(DistinguishedName("OU=b+CN=A\\2cB,cn=c,dc=org"))
        #expect(name.value(of: "cn") == Array("A,B".utf8))
        #expect(name.value(of: "OU") == Array("b".utf8))
        #expect(name.value(of: "dc") == nil)
        // This is BER, and no text.
        #expect(try #require(DistinguishedName("cn=#616263")).value(of: "cn") == nil)
    }

    // MARK: Patterns of direct binds

    @Test(
        arguments: [
            ("uid=%s,dc=org", "ann", "uid=ann,dc=org"), ("uid=%s,dc=org", "a,b", "uid=a\\2cb,dc=org"),
            ("uid=%s,dc=org", "a@b", "uid=a@b,dc=org"), ("uid=%s,dc=org", "a\\b", "uid=a\\5cb,dc=org"),
            ("uid=%s,dc=org", "%s", "uid=\\25s,dc=org"), ("uid=%s,dc=org", "#a", "uid=\\23a,dc=org"),
            ("uid=%s,dc=org", "é", "uid=\\c3\\a9,dc=org"), ("uid=%s,dc=org", "a b", "uid=a\\20b,dc=org"),
            ("uid=%s,dc=org", "a\0", nil), ("uid=%s,dc=org", " a", nil), ("uid=%s,dc=org", "a ", nil),
            ("uid=%s,dc=org", "a\nb", nil), ("uid=%s,dc=org", "", nil), ("%s@example.org", "a b", nil),
            ("%s@example.org", "ann", "ann@example.org"), ("%s@example.org", "a,b=c", "a,b=c@example.org"),
            ("%s@example.org", "ann@other.org", nil), ("%s@example.org", "E\\ann", nil), ("E\\%s", "ann", "E\\ann"),
            ("E\\%s", "E\\ann", nil), ("E\\%s", "ann@b", nil), ("%s@example.org", "é", nil),
        ] as [(String, String, String?)]
    )
    func `a direct bind uses the pattern with the escaped user name`(
        text: String,
        user: String,
        expected: String?
    ) throws {
        #expect(try DNPattern(text).bindName(user) == expected)
    }

    @Test(
        arguments: [
            ("uid=ann,dc=org", "needs one %s for the user name, and no other %: uid=ann,dc=org"),
            ("uid=%s,cn=%s", "needs one %s for the user name, and no other %: uid=%s,cn=%s"),
            ("uid=%s,cn=%d", "needs one %s for the user name, and no other %: uid=%s,cn=%d"),
            ("cn=100%,uid=%s", "needs one %s for the user name, and no other %: cn=100%,uid=%s"),
            ("", "needs one %s for the user name, and no other %: "),
            ("ou=people,uid=%s", "is no distinguished name with %s in its first attribute: ou=people,uid=%s"),
            ("%s=ann,dc=org", "is no distinguished name with %s in its first attribute: %s=ann,dc=org"),
            ("uid=%s+cn=a,dc=org", "is no distinguished name with %s in its first attribute: uid=%s+cn=a,dc=org"),
            ("uid=%s,", "is no distinguished name with %s in its first attribute: uid=%s,"),
            ("uid=#%s", "is no distinguished name with %s in its first attribute: uid=#%s"),
            ("uid=\\%s", "is no distinguished name with %s in its first attribute: uid=\\%s"),
            ("uid=a\\4%s", "is no distinguished name with %s in its first attribute: uid=a\\4%s"),
            ("uid=%s", nil), ("uid=x-%s-y,dc=org", nil),
        ] as [(String, String?)]
    )
    func `mistakes in patterns are named`(text: String, message: String?) {
        if let message {
            #expect(throws: BadValue(message)) { try DNPattern(text) }
        } else {
            #expect(throws: Never.self) { try DNPattern(text) }
        }
    }

    @Test func `the attribute with the user name is the first one of the pattern`() throws {
        let attribute = try #require(try DNPattern("UID=\\28x\\29%s-y,dc=org").nameAttribute)
        #expect(attribute.name == "uid" && attribute.prefix == "(x)" && attribute.suffix == "-y")
        #expect(try DNPattern("%s@example.org").nameAttribute == nil)
    }

    // MARK: Domains

    @Test(
        arguments: [
            ("ann", "ann"), ("EXAMPLE\\ann", "ann"), ("example\\ann", "ann"), ("Example.ORG\\ann", "ann"),
            ("ann@example.org", "ann"), ("ann@EXAMPLE", "ann"), ("ann@other.org", "ann@other.org"), ("OTHER\\ann", nil),
            ("\\ann", nil), ("EXAMPLE\\", nil), ("@example.org", "@example.org"), ("a@b@example.org", "a@b"),
            ("EXAMPLE\\ann@example.org", "ann@example.org"), ("EXAMPLE\\EXAMPLE\\ann", "EXAMPLE\\ann"),
            ("EXAMPLE \\ann", nil), ("ＥＸＡＭＰＬＥ\\ann", nil), ("ann@example.org ", "ann@example.org "), ("", ""),
            ("EXAMPLE/ann", "EXAMPLE/ann"),
        ] as [(String, String?)]
    )
    func `the domain is removed if it is one of the realm's`(typed: String, expected: String?) {
        #expect(DomainNames(["EXAMPLE", "example.org"]).withoutDomain(typed) == expected)
        #expect(DomainNames([]).withoutDomain(typed) == typed)
    }

    // MARK: URLs

    @Test(arguments: [
        ("ldap://a.b", "ldap://a.b:389", false), ("LDAPS://a.b/", "ldaps://a.b:636", false),
        ("ldap://a.b:1", "ldap://a.b:1", false), ("ldaps://[2001:db8::1]:65535", "ldaps://[2001:db8::1]:65535", false),
        ("ldap://127.0.0.1", "ldap://127.0.0.1:389", true), ("ldap://127.9.9.9", "ldap://127.9.9.9:389", true),
        ("ldap://[::1]", "ldap://[::1]:389", true), ("ldap://LOCALHOST", "ldap://LOCALHOST:389", true),
        ("ldap://localhost.example.org", "ldap://localhost.example.org:389", false),
        ("ldap://127.0.0.1.example.org", "ldap://127.0.0.1.example.org:389", false),
        ("ldapi:///run/slapd/ldapi", "ldapi:///run/slapd/ldapi", true),
    ])
    func `URLs of servers are read`(text: String, expected: String, isLocal: Bool) throws {
        let url = try LDAPServerURL(text)
        #expect(url.text == expected)
        #expect(url.isLocal == isLocal)
        #expect(try LDAPServerURL(url.text) == url)
    }

    @Test(arguments: [
        "", "a.b", "http://a.b", "ldap:a.b", "ldap://", "ldap:///", "ldap://:389", "ldap://a.b:", "ldap://a.b:0",
        "ldap://a.b:65536", "ldap://a.b:+1", "ldap://a.b:1:2", "ldap://a.b/dc=org", "ldap://a.b?uid",
        "ldap://[::1", "ldap://[::1]1", "ldap://[a.b]", "ldap://::1", "ldap://a b", "ldap://a%2eb", "ldap://é.b",
        "ldap://a.b//", "cldap://a.b",
    ])
    func `other URLs are refused`(text: String) {
        #expect(throws: BadValue("takes URLs such as ldaps://ldap.example.org:636, not \(text)")) {
            try LDAPServerURL(text)
        }
    }

    @Test(arguments: ["ldap://u@a.b", "ldaps://ann:hunter2@x", "ann:hunter2@x"])
    func `a URL with a password is refused and not repeated`(text: String) {
        let found = "a URL with a user name or a password"
        #expect(throws: BadValue("takes URLs such as ldaps://ldap.example.org:636, not \(found)")) {
            try LDAPServerURL(text)
        }
    }

    @Test(arguments: ["ldapi://", "ldapi://run", "ldapi://%2Frun%2Fldapi", "ldapi:///a b"])
    func `other sockets are refused`(text: String) {
        #expect(throws: BadValue("takes the path of a socket, such as ldapi:///run/slapd/ldapi, not \(text)")) {
            try LDAPServerURL(text)
        }
    }
}
#endif
