// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import Sessions

/// Reads the `sessions` block of the `server` block.
struct SessionsReader {
    let builder: ConfigurationBuilder

    private static let keywords = [
        "idle", "absolute", "warning", "per-user", "total", "streams-per-session", "streams",
    ]

    func read(_ statement: Statement) -> SessionSettings {
        var settings = SessionSettings()
        guard let statements = builder.block(statement, hint: "as in: sessions { idle 30m; absolute 12h; }") else {
            return settings
        }
        let block = Block(statements, of: "sessions", Self.keywords, in: builder)
        let scalars = SettingReader(builder: builder, block: block)
        let day = 86_400
        scalars.duration("idle", .seconds(10) ... .seconds(7 * day), into: &settings.idle)
        // Browsers keep a cookie for at most 400 days (RFC 6265bis section 5.5).
        scalars.duration("absolute", .seconds(60) ... .seconds(400 * day), into: &settings.absolute)
        if block.first("warning") == nil {
            // If the idle limit is short, the default warning time is reduced, because it must be shorter than the limit.
            settings.warning = min(settings.warning, settings.idle / 2)
        } else {
            scalars.duration("warning", .zero ... .seconds(day), into: &settings.warning)
        }
        scalars.integer("per-user", 1...1000, into: &settings.perUser)
        scalars.integer("total", 1...10_000_000, into: &settings.total)
        scalars.integer("streams-per-session", 0...1000, into: &settings.streamsPerSession)
        scalars.integer("streams", 0...1_000_000, into: &settings.streams)
        if settings.absolute < settings.idle, let place = place(of: "absolute", or: "idle", in: block) {
            let hint = "the default of idle is 30m, and of absolute 12h"
            builder.error(at: place, "absolute must not be shorter than idle", hint: hint)
        }
        if settings.warning >= settings.idle, let place = place(of: "warning", or: "idle", in: block) {
            builder.error(at: place, "warning must be shorter than idle", hint: "the default of idle is 30m")
        }
        return settings
    }

    /// Returns the place of the first setting, or of the second if the first is not set.
    private func place(of first: String, or second: String, in block: Block) -> SourceRange? {
        guard let statement = block.first(first) ?? block.first(second) else { return nil }
        return (statement.arguments.first ?? statement.keyword).range
    }
}
