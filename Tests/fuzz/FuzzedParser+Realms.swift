// SPDX-License-Identifier: Apache-2.0

import RealmKit

@testable import GatehouseCommand
@testable import RealmFile
@testable import RealmSQL

#if LDAP
@testable import RealmLDAP
#endif

extension FuzzedParser {
    /// The files, filters, names and queries of realms, and the lines of the log.
    static let realms: [FuzzedParser] =
        [
            FuzzedParser("users-file") { bytes in
                let lines = TextLine.lines(of: bytes)
                var detection = KeyFileFormat.Detection(path: "f")
                try? detection.read(bytes, lines: lines)
                for format in [KeyFileFormat.glassfish, .htpasswd] {
                    let options = ReadOptions(format: format, allowsClearText: true)
                    let reader = UserLineReader(format: format, groups: nil, attributes: [:], readOptions: options)
                    let table = UserTable(bytes, lines: lines, reader: reader, path: "f")
                    for user in table.users {
                        check(table[user.name]?.line == user.line, "a user is found by its name")
                        check(!user.stored.hasPrefix("\n"), "a field is on its line")
                    }
                }
            },
            FuzzedParser("group-file") { bytes in
                let file = GroupFile(bytes)
                let groups = file.groupsByUser(ReadOptions().key)
                check(
                    groups.values.allSatisfy { Set($0.map { Array($0.utf8) }).count == $0.count },
                    "a group is there once"
                )
            },
            FuzzedParser("attribute-file") { bytes in
                _ = AttributeFile(bytes).attributesByUser(ReadOptions(isCaseSensitive: false).key)
            },
            FuzzedParser("sql-query") { bytes in
                for dialect in [SQLDialect.sqlite, .postgreSQL] {
                    let query = try? QueryScanner.translate(
                        text(bytes),
                        name: .updatePassword,
                        dialect: dialect,
                        parameters: [.user, .passwordHash]
                    )
                    guard let query else { continue }
                    check(!query.text.utf8.contains(0), "a query has no NUL")
                    check(Set(query.parameters).count == query.parameters.count, "a parameter has one number")
                    check(!query.parameters.contains(.oldHash), "a parameter is one that the query may have")
                }
            },
            FuzzedParser("log-line") { bytes in
                guard case .entry(let entry) = LogLine(bytes) else { return }
                check(!entry.line.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }, "a line is one line")
            },
        ] + directories

    #if LDAP
    private static let directories = [
        FuzzedParser("ldap-filter") { bytes in
            let values: [FilterTemplate.Value] = [.name, .typedName, .distinguishedName]
            guard let template = try? FilterTemplate(text(bytes), allowing: values) else { return }
            let (plain, hostile) = (template.filter { _ in "a" }, template.filter { _ in ")(|(*\\2a\0" })
            for sign in "()*".utf8 {
                let (expected, found) = (plain.utf8.count { $0 == sign }, hostile.utf8.count { $0 == sign })
                check(expected == found, "a value is only a value: \(hostile)")
            }
        },
        FuzzedParser("distinguished-name") { bytes in
            guard let name = DistinguishedName(text(bytes)), name.key.utf8.count <= 8192 else { return }
            check(
                DistinguishedName(name.key)?.key == name.key,
                "a name in canonical form is the same name: \(name.key)"
            )
        },
    ]
    #else
    private static let directories: [FuzzedParser] = []
    #endif
}
