// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import Store

extension GatehouseOptions.Message.Set: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        if let fault = ShownText.fault(of: text, maximum: Announcement.maximumLength) {
            throw CommandError(.usage, "the text \(fault)")
        }
        let end = try Self.end(until, now: WallClock.system.seconds)
        let (_, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: .createIfMissing)
        do throws(StoreFault) {
            try await store.setAnnouncement(Announcement(text, until: end))
        } catch {
            throw CommandError(.unavailable, error.description)
        }
        GatehouseCommand.print("the message is shown until \(UTCTime.text(end))", on: STDOUT_FILENO)
    }

    /// The maximum time from now, in days.
    ///
    /// A message is for an occasion. One that was forgotten, or whose year is mistyped, ends some day.
    private static let maximumDays = 366

    /// Reads a time after now, in seconds since 1970.
    static func end(_ text: String, now: Int) throws(CommandError) -> Int {
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

extension GatehouseOptions.Message.Show: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let (_, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: .existingOnly)
        let announcement: Announcement?
        do throws(StoreFault) {
            announcement = try await store.announcement()
        } catch {
            throw CommandError(.unavailable, error.description)
        }
        guard let announcement, announcement.end > WallClock.system.seconds else {
            GatehouseCommand.print("there is no message", on: STDOUT_FILENO)
            return
        }
        GatehouseCommand.print(
            "until \(UTCTime.text(announcement.end)): \(Printable.line(announcement.text))",
            on: STDOUT_FILENO
        )
    }
}

extension GatehouseOptions.Message.Clear: Subcommand {
    func perform(_ kinds: [RealmKind]) async throws(CommandError) {
        let (_, store) = try GatehouseCommand.loadStore(options, kinds: kinds, access: .createIfMissing)
        do throws(StoreFault) {
            try await store.setAnnouncement(nil)
        } catch {
            throw CommandError(.unavailable, error.description)
        }
        GatehouseCommand.print("there is no message", on: STDOUT_FILENO)
    }
}
