// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import RealmKit
internal import Throttle

/// Reads the `throttle` block of the `server` block.
struct ThrottleReader {
    let builder: ConfigurationBuilder

    private static let keywords = [
        "failures", "window", "lock", "delay", "longest-delay", "source-failures", "source-window", "source-lock",
        "accounts", "sources", "exempt",
    ]

    func read(_ statement: Statement) -> ThrottleSettings {
        var settings = ThrottleSettings()
        guard let statements = builder.block(statement, hint: "as in: throttle { failures 10; }") else {
            return settings
        }
        let block = Block(statements, of: "throttle", Self.keywords, in: builder)
        let scalars = SettingReader(builder: builder, block: block)
        scalars.integer("failures", 0...10_000, into: &settings.failures)
        scalars.integer("source-failures", 0...60_000, into: &settings.sourceFailures)
        // The records of failures and locks have whole seconds. A lock of more than a week is too long for users.
        let times = Duration.seconds(1)...Duration.seconds(7 * 86_400)
        scalars.duration("window", times, into: &settings.window)
        scalars.duration("lock", times, into: &settings.lock)
        scalars.duration("source-window", times, into: &settings.sourceWindow)
        scalars.duration("source-lock", times, into: &settings.sourceLock)
        // Clients and proxies usually wait no longer than 60 seconds for an answer.
        let delays = Duration.zero...Duration.seconds(60)
        scalars.duration("delay", delays, into: &settings.delay)
        scalars.duration("longest-delay", delays, into: &settings.longestDelay)
        scalars.integer("accounts", 1000...10_000_000, into: &settings.accounts)
        scalars.integer("sources", 1000...10_000_000, into: &settings.sources)
        if let exempt = block.first("exempt") {
            let danger = "can guess passwords without a lock of their address"
            let hint = "write only the addresses of programs and proxies that you know"
            settings.exempt = builder.list(exempt).compactMap {
                builder.addressBlock($0, of: "exempt", danger: (danger, hint))
            }
        }
        if let word = block.word("longest-delay"), settings.longestDelay < settings.delay {
            builder.error(
                at: word.range,
                "longest-delay must not be shorter than delay",
                hint: "delay 0s turns delays off"
            )
        }
        return settings
    }
}
