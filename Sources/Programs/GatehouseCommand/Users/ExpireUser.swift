// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions.User {
    struct Expire: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "expire",
            abstract: "Set the last day of a user's account."
        )
        @OptionGroup var options: RealmOptions
        @Flag(help: "Do not ask before a day in the past is set.") var yes = false
        @Argument(help: "The user.") var user: String
        @Argument(help: "The last day, as in 2027-01-31 (UTC), or never.", completion: .list(["never"]))
        var day: String

        func perform(_ kinds: [RealmKind]) async throws {
            let end: Int? = day == "never" ? nil : try Day.end(of: day)
            let administration = try UserAdministration(options, kinds: kinds)
            if let end, end <= Int(WallClock.system.seconds), !yes {
                // The user is looked up first, so that the question is not about a user who does not exist.
                _ = try await administration.realm.record(user)
                try confirm()
            }
            let done = end == nil ? "never expires" : "expires after \(day)"
            try await administration.change(user, done: done) { $0.expiry = .some(end) }
        }

        /// Asks whether a day in the past is meant; an error without a terminal, where nobody can confirm it.
        private func confirm() throws {
            let consequence =
                "\(Printable.line(day)) is in the past: after this, \(Printable.line(user)) could not sign in"
            guard let terminal = Terminal() else {
                throw CommandError(.usage, "\(consequence); add --yes if this is meant")
            }
            let answer = terminal.readLine("\(consequence). Continue? [y/N] ") ?? ""
            guard ["y", "yes"].contains(answer.lowercased()) else { throw CommandError(.failed, "nothing was changed") }
        }
    }
}

enum Day {
    /// Returns the first second after a day, in seconds since 1970.
    static func end(of text: String) throws -> Int {
        var reader = UTCTimeReader(Array(text.utf8))
        guard let day = reader.day(), reader.isAtEnd else {
            throw CommandError(.usage, "a day is written as in 2027-01-31, not \(Printable.line(text))")
        }
        return day + 86_400
    }

    /// Returns the last day that ends at or before a time, which a database may set to any number.
    static func last(before moment: Int) -> String { UTCTime.dayText(max(moment, .min + 1) - 1) }
}
