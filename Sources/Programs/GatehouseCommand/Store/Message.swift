// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Sessions
internal import Store

extension GatehouseOptions {
    /// `gatehouse message`: the message to all users.
    struct Message: CommandGroup {
        static let configuration = CommandConfiguration(
            commandName: "message",
            abstract: "Show a message on the sign-in pages and the account page until a time.",
            discussion: "A running server applies changes within a second.",
            subcommands: [Set.self, Show.self, Clear.self]
        )

        struct Set: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "set",
                abstract: "Show a message to all users, in place of an earlier one.",
                discussion: """
                    A time is 30m, 2h, 7d, 2026-12-01T18:00Z or 2026-12-01T18:00+01:00; without an offset it is in UTC. \
                    It is at most 366 days from now. The text is one line of up to 300 characters.
                    """
            )
            @OptionGroup var options: ConfigurationOptions
            @Option(help: ArgumentHelp("The time at which the message ends.", valueName: "time")) var until: String
            @Argument(help: "The text.") var text: String

            func perform(_ kinds: [RealmKind]) async throws {
                if let fault = ShownText.fault(of: text, maximum: Announcement.maximumLength) {
                    throw CommandError(.usage, "the text \(fault)")
                }
                let end = try Self.end(until, now: WallClock.system.seconds)
                let store = try ConfiguredStore(options, kinds: kinds, access: .createIfMissing).store
                try await store.setAnnouncement(Announcement(text, until: end))
                GatehouseCommand.print("the message is shown until \(UTCTime.text(end))")
            }

            /// The maximum time from now, in days: a message that was forgotten, or whose year is mistyped, ends some day.
            private static let maximumDays = 366

            /// Reads a time after now, in seconds since 1970.
            static func end(_ text: String, now: Int) throws -> Int {
                let present = LogTime(milliseconds: now * 1000)
                guard let time = LogTime(after: present, text) else {
                    throw CommandError(.usage, "--until takes a time such as 2h, 7d or 2026-12-01T18:00Z, not \(text)")
                }
                guard time > present else { throw CommandError(.usage, "--until \(text) is not in the future") }
                guard time.milliseconds / 1000 - now <= maximumDays * 86_400 else {
                    throw CommandError(.usage, "--until \(text) is more than \(maximumDays) days from now")
                }
                return time.milliseconds / 1000
            }
        }

        struct Show: Subcommand {
            static let configuration = CommandConfiguration(
                commandName: "show",
                abstract: "Print the message and the time at which it ends."
            )
            @OptionGroup var options: ConfigurationOptions

            func perform(_ kinds: [RealmKind]) async throws {
                let store = try ConfiguredStore(options, kinds: kinds, access: .existingOnly).store
                guard let announcement = try await store.announcement(), announcement.end > WallClock.system.seconds
                else {
                    GatehouseCommand.print("there is no message")
                    return
                }
                GatehouseCommand.print("until \(UTCTime.text(announcement.end)): \(Printable.line(announcement.text))")
            }
        }

        struct Clear: Subcommand {
            static let configuration = CommandConfiguration(commandName: "clear", abstract: "Remove the message.")
            @OptionGroup var options: ConfigurationOptions

            func perform(_ kinds: [RealmKind]) async throws {
                try await ConfiguredStore(options, kinds: kinds, access: .createIfMissing).store.setAnnouncement(nil)
                GatehouseCommand.print("there is no message")
            }
        }
    }
}
