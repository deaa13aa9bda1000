// SPDX-License-Identifier: Apache-2.0

internal import CommandSupport

/// A question about a property of the realm.
struct RealmQuestion {
    let property: String
    let text: String
    /// The default; `none` for no value, and empty if an answer is needed.
    let defaultAnswer: String
    /// The only valid answers; empty if any text is one.
    let choices: [String]
    let isAsked: (ServerUsers) -> Bool

    init(
        _ property: String,
        text: String,
        defaultAnswer: String = "",
        choices: [String] = [],
        isAsked: @escaping (ServerUsers) -> Bool = { _ in true }
    ) {
        (self.property, self.text, self.defaultAnswer) = (property, text, defaultAnswer)
        (self.choices, self.isAsked) = (choices, isAsked)
    }

    /// The question with the earlier answer, if there is one, as its default.
    ///
    /// A text that is no distinguished name is not shown again as the account: it may be the password.
    func asked(after earlier: ServerUsers?) -> InitQuestion {
        let before = earlier?.values(property).joined(separator: " ") ?? ""
        let mayBeSecret = property == "search-bind-dn" && !before.utf8.contains(UInt8(ascii: "="))
        let defaultAnswer = before.isEmpty || mayBeSecret ? defaultAnswer : before
        return InitQuestion(option: "--property", text: text, defaultAnswer: defaultAnswer)
    }

    /// Returns the values that an answer stands for.
    func values(_ answer: String) throws -> [String] {
        let isNone = answer == "none" || answer == "false"
        guard !answer.isEmpty, !isNone || defaultAnswer == "none" || !choices.isEmpty else {
            throw CommandError(.usage, "this question needs an answer")
        }
        guard choices.isEmpty || choices.contains(answer) else {
            throw CommandError(.usage, "the answer is one of: \(choices.joined(separator: ", "))")
        }
        guard !isNone else { return [] }
        let parts = property == "directory" ? answer.split(separator: " ").map(String.init) : [answer]
        return try parts.map { part in try ServerUsers.value(part, of: property) }
    }
}

extension RealmQuestion {
    private static let authority = "Which CA certificate file? (none for the system's)"

    static var ofDirectory: [RealmQuestion] {
        // The groups of Active Directory are those that the entry of the user names.
        let hasGroups: (ServerUsers) -> Bool = { users in
            !users.has("group-source") && !users.isOn("active-directory")
        }
        let isPlain: (ServerUsers) -> Bool = { users in
            users.values("directory").contains { ServerUsers.needsStartTLS($0) }
        }
        return [
            RealmQuestion(
                "directory",
                text: "Which LDAP server? (such as ldaps://ldap.example.org; several URLs with blanks between them)"
            ),
            RealmQuestion(
                "start-tls",
                text: "Use StartTLS? (true, false)",
                defaultAnswer: "true",
                choices: ["true", "false"],
                isAsked: isPlain
            ),
            RealmQuestion("ca-file", text: authority, defaultAnswer: "none") { users in
                users.isOn("start-tls") || users.values("directory").contains { $0.hasPrefix("ldaps:") }
            },
            RealmQuestion("base-dn", text: "Which base DN for users? (such as ou=people,dc=example,dc=org)"),
            RealmQuestion(
                "search-bind-dn",
                text: "Which bind DN for searches? (of a service account, or none)",
                defaultAnswer: "none"
            ) { !$0.has("user-dn-pattern") },
            RealmQuestion(
                "active-directory",
                text: "Is it Active Directory or Samba? (true, false)",
                defaultAnswer: "false",
                choices: ["true", "false"]
            ),
            RealmQuestion(
                "group-base-dn",
                text: "Which base DN for groups? (none for the base DN of the users)",
                defaultAnswer: "none",
                isAsked: hasGroups
            ),
            RealmQuestion(
                "group-search-filter",
                text: "Which search filter for the groups of a user?",
                defaultAnswer: "(|(member=%d)(uniqueMember=%d)(memberUid=%s))",
                isAsked: hasGroups
            ),
        ]
    }

    static var ofDatabase: [RealmQuestion] {
        let hasTable: (ServerUsers) -> Bool = { !$0.has("password-query") }
        let table = "Which table has the groups of the users? (or none)"
        return [
            RealmQuestion("database", text: "Which database? (sqlite:PATH or postgresql://USER@HOST/NAME)"),
            RealmQuestion("ca-file", text: authority, defaultAnswer: "none") { users in
                users.values("database").contains { !$0.hasPrefix("sqlite:") && !$0.contains("sslmode=disable") }
            },
            RealmQuestion("user-table", text: "Which table has the users?", isAsked: hasTable),
            RealmQuestion(
                "user-name-column",
                text: "Which of its columns has the name of the user?",
                isAsked: hasTable
            ),
            RealmQuestion(
                "password-column",
                text: "Which of its columns has the hash of the password?",
                isAsked: hasTable
            ),
            RealmQuestion("group-table", text: table, defaultAnswer: "none", isAsked: hasTable),
            RealmQuestion("group-name-column", text: "Which of its columns has the name of the group?") {
                $0.has("group-table")
            },
        ]
    }
}
