// SPDX-License-Identifier: Apache-2.0

/// A question about a property of a realm.
struct RealmQuestion {
    let property: String
    let text: String
    /// The default; `none` for no value, and empty if an answer is needed.
    let standard: String
    /// The only valid answers; empty if any text is one.
    var choices: [String] = []
    var isAsked: (ServerUsers) -> Bool = { _ in true }

    /// Returns the default: the earlier answer, or the default of the question.
    ///
    /// A text that is no distinguished name is not shown again as the account: it may be the password.
    func standard(after earlier: ServerUsers?) -> String {
        let before = earlier?.values(property).joined(separator: " ") ?? ""
        let mayBeSecret = property == "search-bind-dn" && !before.utf8.contains(UInt8(ascii: "="))
        return before.isEmpty || mayBeSecret ? standard : before
    }
}

extension ServerUsers.Kind {
    /// The name of the file with a typed password, beside realms.conf.
    var secretFile: String { "\(rawValue).secret" }

    var className: String { self == .ldap ? "LDAPRealm" : "SQLRealm" }
    var module: String { self == .ldap ? "LDAPLoginModule" : "SQLLoginModule" }
    var context: String { self == .ldap ? "ldapRealm" : "jdbcRealm" }
    var secretProperty: String { self == .ldap ? "search-bind-password" : "password" }
    var secretNames: [String] { [secretProperty, "db-password"] }

    /// The property behind whose question the password is asked for.
    var accountProperty: String { self == .ldap ? "search-bind-dn" : "database" }

    var passwordQuestion: String {
        self == .ldap ? "The password of the account for searches:" : "The password for the database? (empty for none)"
    }

    func hasPassword(_ users: ServerUsers) -> Bool {
        self == .ldap
            ? users.has("search-bind-dn") : users.values("database").contains { !$0.hasPrefix("sqlite:") }
    }

    var questions: [RealmQuestion] {
        let authority = "Which file has the authority of its certificate? (none for those of the system)"
        switch self {
        case .ldap:
            // The groups of Active Directory are those that the entry of the user names.
            let hasGroups: (ServerUsers) -> Bool = { users in
                !users.has("group-source") && users.values("active-directory") != ["true"]
            }
            return [
                RealmQuestion(
                    property: "directory",
                    text: "Which directory? (such as ldaps://ldap.example.org; several URLs with blanks between them)",
                    standard: ""
                ),
                RealmQuestion(
                    property: "start-tls",
                    text: "Use StartTLS? (true, false)",
                    standard: "true",
                    choices: ["true", "false"]
                ) { users in
                    users.values("directory").contains { url in
                        url.hasPrefix("ldap:")
                            && !["127.", "[::1]", "localhost"].contains { url.hasPrefix("ldap://\($0)") }
                    }
                },
                RealmQuestion(property: "ca-file", text: authority, standard: "none") { users in
                    users.has("start-tls") || users.values("directory").contains { $0.hasPrefix("ldaps:") }
                },
                RealmQuestion(
                    property: "base-dn",
                    text: "Below which entry are the users? (such as ou=people,dc=example,dc=org)",
                    standard: ""
                ),
                RealmQuestion(
                    property: "search-bind-dn",
                    text: "Which account searches for users? (its distinguished name, or none)",
                    standard: "none"
                ) { users in !users.has("user-dn-pattern") },
                RealmQuestion(
                    property: "active-directory",
                    text: "Is it Active Directory or Samba? (true, false)",
                    standard: "false",
                    choices: ["true", "false"]
                ),
                RealmQuestion(
                    property: "group-base-dn",
                    text: "Below which entry are the groups? (none for the entry of the users)",
                    standard: "none",
                    isAsked: hasGroups
                ),
                RealmQuestion(
                    property: "group-search-filter",
                    text: "Which filter finds the groups of a user?",
                    standard: "(|(member=%d)(uniqueMember=%d)(memberUid=%s))",
                    isAsked: hasGroups
                ),
            ]
        case .sql:
            let hasTable: (ServerUsers) -> Bool = { !$0.has("password-query") }
            return [
                RealmQuestion(
                    property: "database",
                    text: "Which database? (sqlite:PATH or postgresql://USER@HOST/NAME)",
                    standard: ""
                ),
                RealmQuestion(property: "ca-file", text: authority, standard: "none") { users in
                    users.values("database").contains { !$0.hasPrefix("sqlite:") && !$0.contains("sslmode=disable") }
                },
                RealmQuestion(
                    property: "user-table",
                    text: "Which table has the users?",
                    standard: "",
                    isAsked: hasTable
                ),
                RealmQuestion(
                    property: "user-name-column",
                    text: "Which of its columns has the name of the user?",
                    standard: "",
                    isAsked: hasTable
                ),
                RealmQuestion(
                    property: "password-column",
                    text: "Which of its columns has the hash of the password?",
                    standard: "",
                    isAsked: hasTable
                ),
                RealmQuestion(
                    property: "group-table",
                    text: "Which table has the groups of the users? (or none)",
                    standard: "none",
                    isAsked: hasTable
                ),
                RealmQuestion(
                    property: "group-name-column",
                    text: "Which of its columns has the name of the group?",
                    standard: ""
                ) { users in users.has("group-table") },
            ]
        }
    }
}
