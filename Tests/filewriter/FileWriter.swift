// SPDX-License-Identifier: Apache-2.0

internal import Glibc
internal import RealmFile
internal import RealmKit

/// A program that changes a file of users, for tests of concurrent writers and of killed writers.
///
///     filewriter FILE GROUPFILE|- add NAME GROUPS      adds one user; the status is 0 if the user is stored
///     filewriter FILE GROUPFILE|- many PREFIX COUNT    adds COUNT users, and prints a line for each stored user
///     filewriter FILE GROUPFILE|- churn NAME COUNT     changes a user's groups COUNT times
@main
struct FileWriter {
    /// The SHA-1 of `secret`, salted with the bytes 1 to 8.
    static let hash = "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="

    static func main() async {
        let words = Array(CommandLine.arguments.dropFirst())
        guard words.count == 5 else { return fail("usage: filewriter FILE GROUPFILE|- add|many|churn NAME ARGUMENT") }
        do {
            try await run(realm(words[0], groupFile: words[1]), command: words[2], name: words[3], argument: words[4])
        } catch {
            fail("\(error)")
        }
    }

    private static func realm(_ file: String, groupFile: String) throws -> FileRealm {
        var values: [String: PropertyValue] = ["file": .string(file)]
        if groupFile != "-" { values["group-file"] = .string(groupFile) }
        return try FileRealm(RealmProperties(values, schema: FileRealm.properties, realmName: "filewriter"))
    }

    private static func run(
        _ realm: FileRealm,
        command: String,
        name: String,
        argument: String
    ) async throws {
        switch command {
        case "add":
            let groups = argument.split(separator: ",").map(String.init)
            try await realm.add(UserRecord(try Username(name), groups: groups), hash: hash)
        case "many":
            for number in 0..<(Int(argument) ?? 0) {
                let user = try Username("\(name)\(number)")
                try await realm.add(UserRecord(user, groups: [name, "all"]), hash: hash)
                report("\(user)")
            }
        case "churn":
            for number in 0..<(Int(argument) ?? 0) {
                var changes = UserChanges()
                changes.groups = ["g\(number % 3)", name]
                try await realm.change(try Username(name), changes)
                report("\(number)")
            }
        default: fail("unknown command \(command)")
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
