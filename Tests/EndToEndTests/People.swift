// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A folder with a configuration that has store realms.
///
/// Its functions run the commands in this folder.
struct People {
    static let password = "correct horse battery"

    let folder: TemporaryFolder

    init(_ configuration: String = Self.configuration()) throws {
        folder = try TemporaryFolder()
        try folder.write(configuration, to: "realms.conf")
    }

    /// Returns a configuration with two store realms, and a realm whose users cannot be changed.
    static func configuration(passwords: String = "", server: String = "", rules: String = "") -> String {
        """
        default-realm people;
        login storeRealm { StoreLoginModule required; }
        login xtechMyRealm { StartWithLoginModule required; }
        realm people { class StoreRealm; }
        realm others { class StoreRealm; }
        realm xtech { class StartWithRealm; }
        passwords { \(passwords) }
        server { listen 127.0.0.1:0; \(server) }
        protect /welcome { require any; }
        protect /staff   { require group Staff; }
        \(rules)
        """
    }

    var store: URL { folder.url.appendingPathComponent("var/gatehouse.sqlite") }

    func gatehouse(_ arguments: String..., input: String = "") async throws -> Finished {
        try await Program.run(Program.built("gatehouse"), arguments, input: input, in: folder.url)
    }

    func authcheck(_ user: String, _ password: String) async throws -> Finished {
        let arguments = ["--password-stdin", "people", user]
        return try await Program.run(Program.built("authcheck"), arguments, input: password + "\n", in: folder.url)
    }

    /// Adds a user.
    ///
    /// All users in these tests have the same password.
    func add(_ user: String, _ options: String...) async throws -> Finished {
        let arguments = ["user", "add", "--password-stdin"] + options + ["--", user]
        return try await Program.run(
            Program.built("gatehouse"),
            arguments,
            input: Self.password + "\n",
            in: folder.url
        )
    }

    /// Returns the names of all users in the output of `user list --json`.
    func names() async throws -> [String] {
        let finished = try await gatehouse("user", "list", "--json")
        return try JSONDecoder().decode([Listed].self, from: Data(finished.output.utf8)).map(\.user)
    }

    /// A user in the JSON output.
    struct Listed: Decodable, Equatable {
        var user: String
        var groups: [String] = []
        var enabled = true
        var expires: Int?
        var expired: Bool?
        var mustChangePassword = false
        var password: String?
    }
}

extension Finished {
    static func == (finished: Finished, expected: (status: Int32, output: String, errors: String)) -> Bool {
        finished.status == expected.status && finished.output == expected.output && finished.errors == expected.errors
    }

    /// True if the output has no characters that control a terminal.
    var isPrintable: Bool {
        (output + errors).unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            case 0x0A: true
            case 0x00...0x1F, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: false
            default: true
            }
        }
    }
}
