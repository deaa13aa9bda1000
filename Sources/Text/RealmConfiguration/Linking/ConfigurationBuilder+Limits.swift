// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import LoginConf
internal import Passwords
internal import RealmKit
internal import Sessions
internal import Throttle

// The blocks that consist of limits. `Scripts/documented.py` reads their keywords here.

extension ConfigurationBuilder {
    /// Reads the `sessions` block of the `server` block.
    func sessions(_ statement: Statement) -> SessionSettings {
        var settings = SessionSettings()
        let example = "as in: sessions { idle 30m; absolute 12h; }"
        guard let statements = self.block(statement, hint: example) else { return settings }
        let block = Block(
            statements,
            of: "sessions",
            ["idle", "absolute", "warning", "per-user", "total", "streams-per-session", "streams"],
            in: self
        )
        let day = 86_400
        block.duration("idle", .seconds(10) ... .seconds(7 * day), into: &settings.idle)
        // Browsers keep a cookie for at most 400 days (RFC 6265bis section 5.5).
        block.duration("absolute", .seconds(60) ... .seconds(400 * day), into: &settings.absolute)
        if block.first("warning") == nil {
            // If the idle limit is short, the default warning time is reduced, because it must be shorter than the limit.
            settings.warning = min(settings.warning, settings.idle / 2)
        } else {
            block.duration("warning", .zero ... .seconds(day), into: &settings.warning)
        }
        block.integer("per-user", 1...1000, into: &settings.perUser)
        block.integer("total", 1...10_000_000, into: &settings.total)
        block.integer("streams-per-session", 0...1000, into: &settings.streamsPerSession)
        block.integer("streams", 0...1_000_000, into: &settings.streams)
        if settings.absolute < settings.idle, let statement = block.first("absolute") ?? block.first("idle") {
            let hint = "the default of idle is 30m, and of absolute 12h"
            error(at: statement.valueRange, "absolute must not be shorter than idle", hint: hint)
        }
        if settings.warning >= settings.idle, let statement = block.first("warning") ?? block.first("idle") {
            let hint = "the default of idle is 30m"
            error(at: statement.valueRange, "warning must be shorter than idle", hint: hint)
        }
        return settings
    }

    /// Reads the `throttle` block of the `server` block.
    func throttle(_ statement: Statement) -> ThrottleSettings {
        var settings = ThrottleSettings()
        guard let statements = self.block(statement, hint: "as in: throttle { failures 10; }") else { return settings }
        let block = Block(
            statements,
            of: "throttle",
            [
                "failures", "window", "lock", "delay", "longest-delay", "source-failures", "source-window",
                "source-lock", "accounts", "sources", "exempt",
            ],
            in: self
        )
        block.integer("failures", 0...10_000, into: &settings.failures)
        block.integer("source-failures", 0...60_000, into: &settings.sourceFailures)
        // The records of failures and locks have whole seconds. A lock of more than a week is too long for users.
        let times = Duration.seconds(1)...Duration.seconds(7 * 86_400)
        block.duration("window", times, into: &settings.window)
        block.duration("lock", times, into: &settings.lock)
        block.duration("source-window", times, into: &settings.sourceWindow)
        block.duration("source-lock", times, into: &settings.sourceLock)
        // Clients and proxies usually wait no longer than 60 seconds for an answer.
        let delays = Duration.zero...Duration.seconds(60)
        block.duration("delay", delays, into: &settings.delay)
        block.duration("longest-delay", delays, into: &settings.longestDelay)
        block.integer("accounts", 1000...10_000_000, into: &settings.accounts)
        block.integer("sources", 1000...10_000_000, into: &settings.sources)
        if let exempt = block.first("exempt") {
            let danger = "can guess passwords without a lock of their address"
            let hint = "write only the addresses of programs and proxies that you know"
            settings.exempt = list(exempt).compactMap { addressBlock($0, of: "exempt", danger: (danger, hint)) }
        }
        if let word = block.word("longest-delay"), settings.longestDelay < settings.delay {
            error(at: word.range, "longest-delay must not be shorter than delay", hint: "delay 0s turns delays off")
        }
        return settings
    }

    /// Reads the `limits` block of the `server` block.
    func limits(_ statement: Statement) -> HTTPLimits {
        var limits = HTTPLimits()
        guard let statements = self.block(statement) else { return limits }
        let block = Block(statements, of: "limits", HTTPLimits.settings.map(\.name), in: self)
        for setting in HTTPLimits.settings {
            switch setting.value {
            case .integer(let limit, let bounds): block.integer(setting.name, bounds, into: &limits[keyPath: limit])
            case .duration(let limit, let bounds): block.duration(setting.name, bounds, into: &limits[keyPath: limit])
            }
        }
        return limits
    }
}

// MARK: Passwords

extension ConfigurationBuilder {
    /// Reads the `passwords` block.
    func passwords(_ statement: Statement?) -> PasswordSettings {
        var settings = PasswordSettings()
        let hint = "as in: passwords { hash argon2id memory=19MiB passes=2; }"
        guard let statement, let statements = self.block(statement, hint: hint) else { return settings }
        let block = Block(
            statements,
            of: "passwords",
            [
                "hash", "minimum-length", "workers", "memory", "queue", "wait", "when-full", "niceness",
                "longest-check",
            ],
            in: self
        )
        if let hash = block.first("hash") { read(hash, into: &settings.policy) }
        block.integer("minimum-length", 1...64, into: &settings.minimumLength)
        block.integer("workers", 1...1024, into: &settings.slots.workers)
        block.size("memory", 1 << 20...1 << 40, into: &settings.slots.memory)
        block.integer("queue", 1...4096, into: &settings.slots.queue)
        block.duration("wait", .milliseconds(100) ... .seconds(300), into: &settings.slots.wait)
        block.duration("longest-check", .milliseconds(100) ... .seconds(60), into: &settings.slots.longestCheck)
        block.choice("when-full", into: &settings.slots.whenFull)
        block.integer("niceness", 0...19, into: &settings.slots.niceness)
        check(&settings, in: block)
        return settings
    }

    private func read(_ hash: Statement, into policy: inout HashPolicy) {
        let words = words(hash)
        let texts = words.compactMap(expanded)
        guard let first = words.first, texts.count == words.count else { return }
        do throws(BadValue) {
            policy = try HashPolicy(words: texts)
            if let warning = policy.warning { warn(at: first.range, "hash: \(warning)") }
        } catch {
            // The error is shown at the first word that causes it.
            let place = words.indices.first { Self.fault(texts[...$0]) == error.description } ?? 0
            self.error(at: words[place].range, "hash \(error)")
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
        guard let needed = try? settings.policy.decoy().cost.memory, needed > settings.slots.memory,
            let statement = block.first("hash") ?? block.first("memory")
        else { return }
        let (oneHash, limit) = (Block.text(bytes: needed), Block.text(bytes: settings.slots.memory))
        error(
            at: statement.valueRange,
            "one hash needs \(oneHash) of memory, but the limit for all hashes together is \(limit)",
            hint: "set memory to \(oneHash) or more"
        )
        // With the larger limit, the creation of the slots does not report the same error again.
        settings.slots.memory = needed
    }
}
