// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import LoginConf
internal import Passwords
internal import RealmKit
internal import Sessions
internal import Throttle

/// Reads the `sessions` block of the `server` block.
struct SessionsReader {
    let builder: ConfigurationBuilder

    func read(_ statement: Statement) -> SessionSettings {
        var settings = SessionSettings()
        guard let statements = builder.block(statement, hint: "as in: sessions { idle 30m; absolute 12h; }") else {
            return settings
        }
        let block = Block(
            statements,
            of: "sessions",
            ["idle", "absolute", "warning", "per-user", "total", "streams-per-session", "streams"],
            in: builder
        )
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

/// Reads the `throttle` block of the `server` block.
struct ThrottleReader {
    let builder: ConfigurationBuilder

    func read(_ statement: Statement) -> ThrottleSettings {
        var settings = ThrottleSettings()
        guard let statements = builder.block(statement, hint: "as in: throttle { failures 10; }") else {
            return settings
        }
        let block = Block(
            statements,
            of: "throttle",
            [
                "failures", "window", "lock", "delay", "longest-delay", "source-failures", "source-window",
                "source-lock", "accounts", "sources", "exempt",
            ],
            in: builder
        )
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

/// Reads the `limits` block of the `server` block.
struct LimitsReader {
    let builder: ConfigurationBuilder

    func read(_ statement: Statement) -> HTTPLimits {
        var limits = HTTPLimits()
        guard let statements = builder.block(statement) else { return limits }
        let block = Block(statements, of: "limits", HTTPLimits.settings.map(\.name), in: builder)
        let scalars = SettingReader(builder: builder, block: block)
        for setting in HTTPLimits.settings {
            switch setting.value {
            case .integer(let limit, let bounds): scalars.integer(setting.name, bounds, into: &limits[keyPath: limit])
            case .duration(let limit, let bounds): scalars.duration(setting.name, bounds, into: &limits[keyPath: limit])
            }
        }
        return limits
    }
}

/// Reads the `passwords` block.
struct PasswordsReader {
    let builder: ConfigurationBuilder

    func read(_ statement: Statement?) -> PasswordSettings {
        var settings = PasswordSettings()
        let hint = "as in: passwords { hash argon2id memory=19MiB passes=2; }"
        guard let statement, let statements = builder.block(statement, hint: hint) else { return settings }
        let block = Block(
            statements,
            of: "passwords",
            ["hash", "minimum-length", "workers", "memory", "queue", "wait", "when-full", "niceness", "longest-check"],
            in: builder
        )
        let scalars = SettingReader(builder: builder, block: block)
        if let hash = block.first("hash") { read(hash, into: &settings.policy) }
        scalars.integer("minimum-length", 1...64, into: &settings.minimumLength)
        scalars.integer("workers", 1...1024, into: &settings.slots.workers)
        scalars.size("memory", 1 << 20...1 << 40, into: &settings.slots.memory)
        scalars.integer("queue", 1...1_000_000, into: &settings.slots.queue)
        scalars.duration("wait", .milliseconds(100) ... .seconds(300), into: &settings.slots.wait)
        scalars.duration("longest-check", .milliseconds(100) ... .seconds(60), into: &settings.slots.longestCheck)
        scalars.choice("when-full", into: &settings.slots.whenFull)
        scalars.integer("niceness", 0...19, into: &settings.slots.niceness)
        check(&settings, in: block)
        return settings
    }

    private func read(_ statement: Statement, into policy: inout HashPolicy) {
        let words = builder.words(statement)
        let texts = words.compactMap(builder.expanded)
        guard let first = words.first, texts.count == words.count else { return }
        do throws(BadValue) {
            policy = try HashPolicy(words: texts)
            if let warning = policy.warning {
                builder.log.add(builder.text.warning(at: first.range, "hash: \(warning)"))
            }
        } catch {
            // The error is shown at the first word that causes it.
            let place = words.indices.first { Self.fault(texts[...$0]) == error.description } ?? 0
            builder.error(at: words[place].range, "hash \(error)")
        }
    }

    private static func fault(_ words: ArraySlice<String>) -> String? {
        do throws(BadValue) {
            _ = try HashPolicy(words: Array(words))
            return nil
        } catch {
            return error.description
        }
    }

    /// Reports a memory limit that is too small for one hash.
    private func check(_ settings: inout PasswordSettings, in block: Block) {
        let needed: Int
        do throws(HashFault) { needed = try settings.policy.decoy().cost.memory } catch { return }
        guard needed > settings.slots.memory, let statement = block.first("hash") ?? block.first("memory") else {
            return
        }
        let (oneHash, limit) = (SettingReader.text(bytes: needed), SettingReader.text(bytes: settings.slots.memory))
        builder.error(
            at: (statement.arguments.first ?? statement.keyword).range,
            "one hash needs \(oneHash) of memory, but the limit for all hashes together is \(limit)",
            hint: "set memory to \(oneHash) or more"
        )
        // With the larger limit, the creation of the slots does not report the same error again.
        settings.slots.memory = needed
    }
}
