// SPDX-License-Identifier: Apache-2.0

#if LDAP
import RealmKit
import SeededRandom
import Testing

@testable import RealmLDAP

/// The canonical form of distinguished names, which is the name of a group with `group-names dn`.
struct CanonicalNameTests {
    @Test(arguments: [
        ("CN=Sales\\, EMEA,ou=Groups,DC=example,DC=org", "cn=sales\\, emea,ou=groups,dc=example,dc=org"),
        (" cn = Sales\\2C EMEA , OU=groups,dc = example, dc=org ", "cn=sales\\, emea,ou=groups,dc=example,dc=org"),
        ("cn=\\53ales\\2c\\20EMEA", "cn=sales\\, emea"), ("ou=B + CN=Bj\\C3\\98rk", "cn=bjørk+ou=b"),
        ("cn=\\ a\\ ", "cn=\\20a\\20"), ("cn=\\#a#", "cn=\\23a#"), ("cn=a\\00\\0A\\7f", "cn=a\\00\\0a\\7f"),
        ("cn=a\\\\ b,ou=\\5c ", "cn=a\\\\ b,ou=\\\\"), ("cn=a\\=b\\\"\\+\\;\\<\\>\\\\", "cn=a=b\\\"\\+\\;\\<\\>\\\\"),
        ("cn=,dc=x", "cn=,dc=x"), ("", ""),
        // Values with case, in BER, that are not UTF-8, and a letter of which there are two capitals.
        ("memberUid=Ann,dc=X", "memberuid=Ann,dc=x"), ("CN= #0C03416E6E ,dc=x", "cn=#0c03416e6e,dc=x"),
        ("cn=A\\FF", "cn=A\\ff"),
        ("cn=\u{212A}É", "cn=\u{212A}é"),
        // Object identifiers of the attributes of RFC 4514 section 3, and of another one.
        ("2.5.4.3=Ann,2.5.4.7=L,2.5.4.8=S,2.5.4.10=O,2.5.4.11=U", "cn=ann,l=l,st=s,o=o,ou=u"),
        ("2.5.4.6=DE,2.5.4.9=Way,0.9.2342.19200300.100.1.25=X", "c=de,street=way,dc=x"),
        ("0.9.2342.19200300.100.1.1=Ann,2.5.4.4=Smith", "uid=ann,2.5.4.4=Smith"),
        ("2.5.4.3=#0C03416E6E", "cn=#0c03416e6e"),
    ])
    func `a name has one form`(text: String, expected: String) throws {
        #expect(Array(try #require(DistinguishedName(text)).key.utf8) == Array(expected.utf8))
        #expect(Array(try #require(DistinguishedName(expected)).key.utf8) == Array(expected.utf8))
    }

    @Test(arguments: [
        ("cn=a b", "cn=a  b"), ("cn=a", "cn=\\20a"), ("cn=k", "cn=\u{212A}"), ("cn=ss", "cn=ß"), ("cn=s", "cn=ſ"),
        ("cn=i", "cn=ı"), ("cn=é", "cn=e\u{301}"), ("cn=e", "cn=é"), ("cn=a", "cn=\u{FF41}"),
        ("cn=ab", "cn=a\u{200B}b"),
        ("cn=abc", "cn=#616263"), ("cn=\\#616263", "cn=#616263"), ("uidNumber=A", "uidNumber=a"), ("sn=a", "2.5.4.4=a"),
        ("cn=a\\00", "cn=a"), ("cn=a\\0a", "cn=a"), ("cn=a+cn=a", "cn=a"), ("cn=\\FF", "cn=\u{FFFD}"),
    ])
    func `different names have different forms`(first: String, second: String) throws {
        let keys = try [first, second].map { Array(try #require(DistinguishedName($0)).key.utf8) }
        #expect(keys[0] != keys[1])
    }

    @Test func `random spellings of a name have its form, and no other name has it`() throws {
        var random = Random(seed: 47)
        var texts: [[UInt8]: RandomName] = [:]
        for _ in 0..<20_000 {
            let name = RandomName(&random)
            let (first, second) = (name.spelled(&random), name.spelled(&random))
            let key = try #require(DistinguishedName(first), "\(first.debugDescription)").key
            #expect(Array(try #require(DistinguishedName(second)).key.utf8) == Array(key.utf8), "\(first) \(second)")
            #expect(Array(try #require(DistinguishedName(key)).key.utf8) == Array(key.utf8), "\(first) \(key)")
            if let other = texts.updateValue(name, forKey: Array(key.utf8)) { #expect(other == name, "\(first)") }
        }
        // Short names meet each other.
        #expect(texts.count < 19_000 && texts.count > 5_000)
    }

    // MARK: In realms

    @Test func `a rule may spell the name of a group in any way, if groups have distinguished names`() throws {
        let plain = try LDAPSetup.realm(try LDAPSetup.properties("ldaps://127.0.0.1:1"))
        #expect(try plain.groupName("CN=Staff, DC=Example") == "CN=Staff, DC=Example")
        let named = try LDAPSetup.realm(try LDAPSetup.properties("ldaps://127.0.0.1:1", ["group-names": ["dn"]]))
        #expect(try named.groupName("CN=Staff, DC=Example") == "cn=staff,dc=example")
        let fault = BadValue("is no distinguished name such as cn=staff,ou=groups,dc=example,dc=org (group-names dn)")
        let long = "cn=" + String(repeating: "n", count: 1022)
        for text in ["Staff", "cn=Sales, EMEA,dc=example", "cn=a;dc=b", "", long] {
            #expect(throws: fault, "\(text)") { try named.groupName(text) }
        }
    }
}

/// A name without the differences of its spellings.
private struct RandomName: Equatable {
    struct Part: Equatable {
        let attribute: String
        let value: [Unicode.Scalar]
        let hasCase: Bool
    }

    let names: [[Part]]

    init(_ random: inout Random) {
        let letters: [Unicode.Scalar] = Array("aab bé\u{212A}#,+=\\\"<>;\0\u{7F}𝒳".unicodeScalars)
        names = (0...random.below(2)).map { _ in
            let parts = (0...random.below(2)).map { _ in
                let attribute = random.pick(["cn", "ou", "memberuid"])
                let hasCase = attribute == "memberuid"
                return Part(
                    attribute: attribute,
                    value: (0..<random.below(4)).map { _ in random.pick(letters + (hasCase ? ["A"] : [])) },
                    hasCase: hasCase
                )
            }
            return parts.sorted { $0.text < $1.text }
        }
    }

    /// Returns a text that stands for the name (RFC 4514 section 2.4), with blanks where readers ignore them.
    func spelled(_ random: inout Random) -> String {
        names.map { parts in
            parts.shuffled(using: &random).map { part in
                let blanks = (0..<4).map { _ in random.below(3) == 0 ? "  " : "" }
                let attribute = random.below(2) == 0 ? part.attribute : part.attribute.uppercased()
                let value = part.spelledValue(&random)
                // libldap would read the first of the blanks as a part of the value.
                let last = value.hasSuffix("\\\\") ? "" : blanks[3]
                return blanks[0] + attribute + blanks[1] + "=" + blanks[2] + value + last
            }.joined(separator: "+")
        }.joined(separator: ",")
    }
}

extension RandomName.Part {
    /// A text for sorting, which differs for different parts.
    fileprivate var text: [UInt32] { attribute.unicodeScalars.map(\.value) + [0x3D] + value.map(\.value) }

    fileprivate func spelledValue(_ random: inout Random) -> String {
        var text = ""
        for (index, scalar) in value.enumerated() {
            let capital: [Unicode.Scalar: Unicode.Scalar] = ["a": "A", "b": "B", "é": "É"]
            let written = !hasCase && random.below(2) == 0 ? capital[scalar] ?? scalar : scalar
            let isMark = "\"+,;<>\\".unicodeScalars.contains(written)
            let isAtEnd =
                index == 0 && "# ".unicodeScalars.contains(written) || index == value.count - 1 && written == " "
            let isControl = written.value < 0x20
            switch random.below(3) {
            case 0 where !isMark && !isAtEnd && !isControl: text.unicodeScalars.append(written)
            case 1 where isMark || isAtEnd || written == "=": text += "\\" + String(written)
            default:
                for byte in String(written).utf8 {
                    let digits = (byte < 16 ? "0" : "") + String(byte, radix: 16)
                    text += "\\" + (random.below(2) == 0 ? digits : digits.uppercased())
                }
            }
        }
        return text
    }
}

private func < (left: [UInt32], right: [UInt32]) -> Bool { left.lexicographicallyPrecedes(right) }
#endif
