// SPDX-License-Identifier: Apache-2.0

#if LDAP
import RealmKit
import SeededRandom
import ServerConnections
import Testing
import Workers

@testable import RealmLDAP

struct FilterTemplateTests {
    private static let all: [FilterTemplate.Value] = [.name, .typedName, .distinguishedName]

    /// Returns the filter for the user `an*n`, typed as `E\an*n`, with the name `cn=a,dc=b`.
    private func filled(_ text: String) throws -> String {
        try FilterTemplate(text, allowing: Self.all).filter { value in
            switch value {
            case .name: "an*n"
            case .typedName: "E\\an*n"
            case .distinguishedName: "cn=a,dc=b"
            }
        }
    }

    @Test(
        arguments: [
            ("uid=%s", "(uid=an\\2an)"), ("(uid=%s)", "(uid=an\\2an)"), ("mail=%n", "(mail=E\\5can\\2an)"),
            ("member=%d", "(member=cn=a,dc=b)"), ("(&(uid=%s)(a=b))", "(&(uid=an\\2an)(a=b))"),
            ("&(uid=%s)(a=b)", "(&(uid=an\\2an)(a=b))"),
            ("(|(uid=%s)(mail=%s@b.c))", "(|(uid=an\\2an)(mail=an\\2an@b.c))"),
            ("(&(uid=%s)(!(a=b*c)))", "(&(uid=an\\2an)(!(a=b*c)))"),
            (
                "(&(uid=%s)(a>=1)(b<=2)(c~=d))",
                "(&(uid=an\\2an)(a>=1)(b<=2)(c~=d))"
            ),
            ("(&(uid=%s)(a=100%%))", "(&(uid=an\\2an)(a=100%))"),
            ("(&(uid=%s)(a=\\28x\\29))", "(&(uid=an\\2an)(a=\\28x\\29))"),
            ("(uid:caseExactMatch:=%s)", "(uid:caseExactMatch:=an\\2an)"), ("(cn;lang-en=%s)", "(cn;lang-en=an\\2an)"),
            ("(member:1.2.840.113556.1.4.1941:=%d)", "(member:1.2.840.113556.1.4.1941:=cn=a,dc=b)"),
            ("(&(uid=%s)(ou=Zürich))", "(&(uid=an\\2an)(ou=Zürich))"), ("(uid=%s%%s)", "(uid=an\\2an%s)"),
            ("(uid=%%%s)", "(uid=%an\\2an)"), ("(a=*%s*)", "(a=*an\\2an*)"), ("(a=*)", nil),
        ] as [(String, String?)]
    )
    func `valid templates are filled with escaped values`(text: String, expected: String?) throws {
        guard let expected else {
            let problem = BadValue("has no %s or %n or %d: \(text)")
            #expect(throws: problem) { try FilterTemplate(text, allowing: Self.all) }
            return
        }
        #expect(try filled(text) == expected)
    }

    @Test(arguments: [
        ("", "needs the name of an attribute at character 1 of the filter"),
        ("uid", "needs = after the name of an attribute at character 4 of the filter"),
        ("(uid", "needs = after the name of an attribute at character 5 of the filter"),
        ("(uid=%s", "needs a closing parenthesis at character 8 of the filter"),
        ("uid=%s)", "has something after its end at character 8 of the filter"),
        ("(uid=%s))", "has something after its end at character 9 of the filter"),
        ("(uid=%s)(a=b)", "has something after its end at character 9 of the filter"),
        ("(&)", "needs an opening parenthesis at character 3 of the filter"),
        ("(!(a=b)(c=%s))", "needs a closing parenthesis at character 8 of the filter"),
        ("(& (uid=%s))", "needs an opening parenthesis at character 3 of the filter"),
        ("(=%s)", "needs the name of an attribute at character 2 of the filter"),
        ("(a b=%s)", "needs = after the name of an attribute at character 3 of the filter"),
        ("(uid>%s)", "needs = after the name of an attribute at character 6 of the filter"),
        ("(uid=%x)", "takes %s, %n, %d or %%, not this % at character 7 of the filter"),
        ("(uid=100%)", "takes %s, %n, %d or %%, not this % at character 10 of the filter"),
        ("uid=%", "takes %s, %n, %d or %%, not this % at character 6 of the filter"),
        ("(uid=a(b%s)", "has a character that must be written as \\28 or \\00 at character 7 of the filter"),
        ("(uid=a\0%s)", "has a character that must be written as \\28 or \\00 at character 7 of the filter"),
        ("(uid=\\2%s)", "needs two hexadecimal digits after a backslash at character 6 of the filter"),
        ("(uid=%s\\", "needs two hexadecimal digits after a backslash at character 8 of the filter"),
        ("(ou=Zürich)(uid=%s)", "has something after its end at character 12 of the filter"),
        ("(%s=a)", "needs the name of an attribute at character 2 of the filter"),
        ("(&(uid=%s)(:=a))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(-a=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(:dn:=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(a:b:c:=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(a:b=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(1..2=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(a;=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(a:~=b))", "is no name of an attribute at character 12 of the filter"),
        ("(&(uid=%s)(a~=b*))", "cannot have * here, only after a plain = at character 16 of the filter"),
    ])
    func `mistakes are named with their places`(text: String, message: String) {
        #expect(throws: BadValue(message)) { try FilterTemplate(text, allowing: Self.all) }
    }

    @Test func `only the allowed values are taken`() throws {
        #expect(throws: BadValue("cannot have %d here at character 7 of the filter")) {
            try FilterTemplate("(uid=%d)", allowing: [.name, .typedName])
        }
        let deep = String(repeating: "(!", count: 31) + "(uid=%s)" + String(repeating: ")", count: 31)
        #expect(throws: Never.self) { try FilterTemplate(deep, allowing: [.name]) }
        #expect(throws: BadValue("is nested too deeply at character 65 of the filter")) {
            try FilterTemplate("(!\(deep))", allowing: [.name])
        }
    }

    @Test(arguments: [
        ("uid=%s", ["uid||"]), ("(&(a=b)(|(uid=%s)(mail=%n)))", ["uid||", "mail||"]), ("(mail=%s@b.c)", ["mail||@b.c"]),
        ("(cn=\\28x\\29 \\25s%s%%)", ["cn|(x) %s|%"]), ("(uid:caseExactMatch:=%s)", ["uid||"]),
        ("(cn;lang-en=%s)", ["cn||"]),
        ("(uid~=%s)", []), ("(uid>=%s)", []), ("(uid=%s*)", []), ("(!(uid=%s))", []), ("(uid=%s%s)", []),
        ("(&(uid=%s)(!(cn=%s)))", ["uid||"]), ("(member=%d)", []),
    ])
    func `the attributes with the user name are those that are compared for equality`(
        text: String,
        expected: [String]
    ) throws {
        let template = try FilterTemplate(text, allowing: Self.all)
        #expect(template.nameAttributes.map { "\($0.name)|\($0.prefix)|\($0.suffix)" } == expected)
    }

    @Test func `the attributes that a filter compares are known, also in parts without a name`() throws {
        let text = "(&(uid=%s)(|(MAIL;lang-de=%s)(title~=x)(!(l>=a*))(st=*))(cn:dn:2.5.13.2:=y)(:2.5.13.2:=z)(uid=*a*))"
        #expect(throws: BadValue.self) { try FilterTemplate(text, allowing: Self.all) }
        let filter = try FilterTemplate(text.replacing("(!(l>=a*))", with: "(!(l>=a))"), allowing: Self.all)
        #expect(filter.comparedAttributes == ["uid", "mail", "title", "l", "cn"])
    }

    @Test func `only filters with distinguished names alone are for groups in groups`() throws {
        #expect(try FilterTemplate("(|(a=%d)(b=%d))", allowing: Self.all).usesOnlyDistinguishedName)
        #expect(try !FilterTemplate("(|(a=%d)(b=%s))", allowing: Self.all).usesOnlyDistinguishedName)
        #expect(try FilterTemplate("(&(uid=%s)(a=100%%))", allowing: Self.all).filterForAll == "(&(uid=*)(a=100%))")
    }

    // MARK: Random templates

    private static let pieces = [
        "(", ")", "&", "|", "!", "=", "~=", ">=", "<=", "*", "%s", "%n", "%d", "%%", "%", "\\", "\\28", "\\0", ":", ";",
        "-",
        ".", "uid", "cn", "1.2.3", ":dn", ":caseExactMatch", " ", "ü", "\0", "0", "(uid=%s)", "(cn=b)",
        "(&(uid=%s)(cn=b))",
    ]

    @Test func `libldap accepts each template that is accepted, and reads its structure whatever the values are`()
        async throws
    {
        var random = Random(seed: 23)
        var templates: [FilterTemplate] = []
        while templates.count < 100 {
            var text = random.below(2) == 0 ? "(" : ""
            for _ in 0...random.below(9) { text += random.pick(Self.pieces) }
            do throws(BadValue) {
                templates.append(try FilterTemplate(text, allowing: Self.all))
            } catch {
                continue
            }
        }
        let server = try FakeDirectory { request in
            [.send(BER.result(request.number, request.operation == .bind ? 0x61 : 0x65))]
        }
        let realm = try LDAPSetup.realm(["directory": [server.url], "base-dn": ["dc=org"], "group-source": ["none"]])
        for template in templates {
            let hostile = HostileText.next(&random)
            let filters = ["mark", hostile].map { value in template.filter { _ in value } }
            let received = try await realm.directory.pool.run(for: JobOwner(source: "test", account: nil)) {
                connection,
                call throws(ServerFault) in
                connection.begin(call)
                for filter in filters {
                    let search = LDAPSearch(base: "dc=org", filter: filter, attributes: [])
                    _ = try connection.search(search)
                }
                return server.requests.suffix(2).map(\.content)
            }
            let shapes = received.map(Self.shape)
            let marked = shapes[0]?.replacing("6d61726b", with: "VALUE")
            let value = hostile.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
            #expect(
                shapes[0] != nil && shapes[1] == marked?.replacing("VALUE", with: value),
                "\(template.text) \(hostile)"
            )
        }
    }

    /// Returns the tags and the values of a search's filter, with the values in hexadecimal digits.
    private static func shape(_ request: [UInt8]) -> String? {
        var rest = request[...]
        // The base, the scope, the aliases, the limits and the kind of the values.
        for _ in 0..<6 where BER.read(&rest) == nil { return nil }
        guard let filter = BER.read(&rest) else { return nil }
        return shape(filter.tag, filter.content)
    }

    private static func shape(_ tag: UInt8, _ content: ArraySlice<UInt8>) -> String? {
        guard tag & 0x20 != 0 else {
            return "\(tag):" + content.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        var parts: [String] = []
        var rest = content
        while !rest.isEmpty {
            guard let next = BER.read(&rest), let text = shape(next.tag, next.content) else { return nil }
            parts.append(text)
        }
        return "\(tag)[\(parts.joined(separator: " "))]"
    }
}
#endif
