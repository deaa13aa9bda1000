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
            let (changes, isPast) = try changes()
            let administration = try UserAdministration(options, kinds: kinds)
            if isPast, !yes { try await confirm(administration) }
            let done = day == "never" ? "never expires" : "expires after \(day)"
            try await administration.change(user, changes, done: done)
        }

        // In a release build, Swift 6.3 crashes ("splitting coroutine") when all of this is inlined into `perform`.
        @inline(never)
        private func changes() throws -> (UserChanges, isPast: Bool) {
            var changes = UserChanges()
            let end: Int? = day == "never" ? nil : try Day.end(of: day)
            changes.expiry = .some(end)
            return (changes, end.map { $0 <= Int(WallClock.system.seconds) } ?? false)
        }

        /// Asks whether a day in the past is meant; an error without a terminal, where nobody can confirm it.
        @inline(never)
        private func confirm(_ administration: UserAdministration) async throws {
            // The user is looked up first, so that the question is not about a user who does not exist.
            _ = try await administration.realm.record(user)
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
