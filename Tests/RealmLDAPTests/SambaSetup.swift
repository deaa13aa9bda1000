// SPDX-License-Identifier: Apache-2.0

#if LDAP
import DirectoryTesting
import Foundation
import RealmKit
import RealmTesting
import TLSTesting

@testable import RealmLDAP

/// Realms for the domain controllers of DirectoryTesting.
enum SambaSetup {
    /// The properties of a realm for the users of a domain controller.
    static func properties(_ url: String, _ changes: [String: [String]?] = [:]) throws -> [String: [String]] {
        var words: [String: [String]] = [
            "directory": [url], "active-directory": ["true"], "base-dn": [SambaServer.base],
            "search-bind-dn": [SambaServer.service.name], "search-bind-password": [SambaServer.service.password],
            "domains": ["EXAMPLE", "example.org"], "ca-file": [try LDAPSetup.pki.file("root.pem").path],
            // A busy machine is no outage.
            "timeout": ["120s"], "connect-timeout": ["60s"], "bind-timeout": ["60s"], "search-timeout": ["60s"],
        ]
        for (name, value) in changes { words[name] = value }
        return words
    }

    static func realm(
        _ server: SambaServer,
        _ changes: [String: [String]?] = [:],
        log: LogEntries = LogEntries()
    ) throws -> LDAPRealm {
        try LDAPSetup.realm(try properties(server.tlsURL, changes), log: log)
    }

    /// Returns a conversation that gives the name and the password first, and each new password twice.
    static func conversation(_ name: String, _ old: String, new passwords: [String]) -> RecordingConversation {
        RecordingConversation(
            [.prepared(PreparedConversation(name: name, password: Secret(utf8: old)))]
                + passwords.map { .answers([.none, .secret(Secret(utf8: $0)), .secret(Secret(utf8: $0))]) }
        )
    }

    /// Adds a user with an own entry.
    static func add(_ person: Person, to server: SambaServer, _ attributes: [(String, String)] = []) async throws {
        let all = [("objectClass", "user"), ("sAMAccountName", person.uid)] + attributes
        try await server.add(ldif: Entry(person.name, all).ldif)
        try await server.modify(ldif: SambaServer.passwordReset(of: person, to: person.password))
        let enabling = "changetype: modify\nreplace: userAccountControl\nuserAccountControl: 512\n"
        try await server.modify(ldif: "\(Entry.line("dn", person.name))\n\(enabling)")
    }
}
#endif
