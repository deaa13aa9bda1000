// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmFile
internal import RealmKit

/// Changes a file of users in a process of its own, for tests of concurrent and of killed writers.
///
///     filewriter FILE GROUPFILE|- add NAME GROUPS      one user; status 0 once the user is stored
///     filewriter FILE GROUPFILE|- many PREFIX COUNT    COUNT users, a line on stdout for each stored one
///     filewriter FILE GROUPFILE|- churn NAME COUNT     changes a user's groups COUNT times
@main
struct FileWriter {
    /// The SHA-1 of `secret`, salted with the bytes 1 to 8.
    static let hash = "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 5 else { return fail("usage: filewriter FILE GROUPFILE|- add|many|churn NAME WORD") }
        do {
            try await run(realm(words[0], words[1]), words[2], words[3], words[4])
        } catch {
            fail("\(error)")
        }
    }

    private static func realm(_ file: String, _ groupFile: String) throws -> FileRealm {
        var values: [String: PropertyValue] = ["file": .string(file)]
        if groupFile != "-" { values["group-file"] = .string(groupFile) }
        return try FileRealm(RealmProperties(values, schema: FileRealm.properties, realmName: "filewriter"))
    }

    private static func run(_ realm: FileRealm, _ verb: String, _ name: String, _ word: String) async throws {
        switch verb {
        case "add":
            let groups = word.split(separator: ",").map(String.init)
            try await realm.add(UserRecord(try Username(name), groups: groups), hash: hash)
        case "many":
            for number in 0..<(Int(word) ?? 0) {
                let user = try Username("\(name)\(number)")
                try await realm.add(UserRecord(user, groups: [name, "all"]), hash: hash)
                report("\(user)")
            }
        case "churn":
            for number in 0..<(Int(word) ?? 0) {
                var changes = UserChanges()
                changes.groups = ["g\(number % 3)", name]
                try await realm.change(try Username(name), changes)
                report("\(number)")
            }
        default: fail("\(verb) is not known")
        }
    }

    private static func report(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(1, $0.baseAddress, $0.count) }
    }

    private static func fail(_ text: String) {
        let bytes = Array("\(text)\n".utf8)
        _ = unsafe bytes.withUnsafeBytes { unsafe write(2, $0.baseAddress, $0.count) }
        exit(1)
    }
}
