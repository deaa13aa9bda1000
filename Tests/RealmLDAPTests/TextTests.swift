// SPDX-License-Identifier: Apache-2.0

#if LDAP
import RealmKit
import SeededRandom
import Testing

@testable import RealmLDAP

struct TextTests {
    @Test func `an escaped value is read as exactly its bytes, in filters and in distinguished names`() {
        var random = Random(seed: 21)
        for _ in 0..<HostileText.count(3_000) {
            let value = random.below(2) == 0 ? Array(HostileText.next(&random).utf8) : random.bytes(random.below(24))
            let (filter, name) = (LDAPText.filterValue(value), LDAPText.nameValue(value))
            guard Decoded.filterValue(filter[...].utf8) == value, Decoded.nameValue(name[...].utf8) == value else {
                Issue.record("\(value): \(filter) \(name)")
                return
            }
        }
    }

    @Test func `libldap reads a name with an escaped value as one with exactly its bytes`() throws {
        var random = Random(seed: 22)
        for _ in 0..<HostileText.count(3_000) {
            let value = Array(HostileText.next(&random).utf8)
            let text = "cn=\(LDAPText.nameValue(value)),ou=people+l=\(LDAPText.nameValue(value)),dc=org"
            let name = DistinguishedName(text)
            guard let name, name.names.count == 3, name.names[1].count == 2, name.value(of: "cn") == value,
                name.names[1].contains(where: { $0.attribute == "l" && $0.value == value })
            else {
                Issue.record("\(value): \(text)")
                return
            }
        }
    }

    @Test func `texts of a server are cut and lose their control characters before they are logged`() {
        #expect(LDAPText.printable("a\r\nb\u{1B}[0m\u{7F}\u{85}\0ü") == "a  b [0m   ü")
        #expect(LDAPText.printable(String(repeating: "ü", count: 1000)).unicodeScalars.count == 200)
    }
}
#endif
