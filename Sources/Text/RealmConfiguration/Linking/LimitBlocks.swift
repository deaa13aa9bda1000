// SPDX-License-Identifier: Apache-2.0

internal import HTTPLimits
internal import LoginConf
internal import Passwords
internal import RealmKit
internal import Sessions
internal import Throttle

// The blocks that consist of limits.

private let day = 86_400

extension SessionSettings {
    static let schema = BlockSchema<SessionSettings>(
        name: "sessions",
        example: "sessions { idle 30m; absolute 12h; }",
        statements: [
            .duration("idle", .seconds(10) ... .seconds(7 * day), \.idle),
            // Browsers keep a cookie for at most 400 days (RFC 6265bis section 5.5).
            .duration("absolute", .seconds(60) ... .seconds(400 * day), \.absolute),
            .duration("warning", .zero ... .seconds(day), \.warning),
            .integer("per-user", 1...1000, \.perUser),
            .integer("total", 1...10_000_000, \.total),
            .integer("streams-per-session", 0...1000, \.streamsPerSession),
            .integer("streams", 0...1_000_000, \.streams),
        ]
    ) { block, settings in
        // If the idle limit is short, the default warning time is reduced, because it must be shorter than the limit.
        if block.first("warning") == nil { settings.warning = min(settings.warning, settings.idle / 2) }
        if settings.absolute < settings.idle {
            let hint = "the default of idle is 30m, and of absolute 12h"
            block.error(at: "absolute", or: "idle", "absolute must not be shorter than idle", hint: hint)
        }
        if settings.warning >= settings.idle {
            let hint = "the default of idle is 30m"
            block.error(at: "warning", or: "idle", "warning must be shorter than idle", hint: hint)
        }
    }
}

extension ThrottleSettings {
    // The records of failures and locks have whole seconds. A lock of more than a week is too long for users.
    private static let times = Duration.seconds(1)...Duration.seconds(7 * day)
    // Clients and proxies usually wait no longer than 60 seconds for an answer.
    private static let delays = Duration.zero...Duration.seconds(60)

    static let schema = BlockSchema<ThrottleSettings>(
        name: "throttle",
        example: "throttle { failures 10; }",
        statements: [
            .integer("failures", 0...10_000, \.failures),
            .integer("source-failures", 0...60_000, \.sourceFailures),
            .duration("window", times, \.window),
            .duration("lock", times, \.lock),
            .duration("source-window", times, \.sourceWindow),
            .duration("source-lock", times, \.sourceLock),
            .duration("delay", delays, \.delay),
            .duration("longest-delay", delays, \.longestDelay),
            .integer("accounts", 1000...10_000_000, \.accounts),
            .integer("sources", 1000...10_000_000, \.sources),
            .value("exempt", \.exempt) { block, keyword in
                block.addresses(
                    keyword,
                    danger: "can guess passwords without a lock of their address",
                    hint: "write only the addresses of programs and proxies that you know"
                )
            },
        ]
    ) { block, settings in
        if block.first("longest-delay") != nil, settings.longestDelay < settings.delay {
            let message = "longest-delay must not be shorter than delay"
            block.error(at: "longest-delay", message, hint: "delay 0s turns delays off")
        }
    }
}

extension HTTPLimits {
    static let schema = BlockSchema<HTTPLimits>(
        name: "limits",
        statements: settings.map { setting in
            switch setting.value {
            case .integer(let limit, let bounds): .integer(setting.name, bounds, limit)
            case .duration(let limit, let bounds): .duration(setting.name, bounds, limit)
            }
        }
    )
}

extension CacheTimes {
    static let schema = BlockSchema<CacheTimes>(
        name: "cache",
        example: "cache { ttl 60s; stale-if-unavailable 10m; }",
        statements: [
            .duration("ttl", .zero ... .seconds(3600), \.lifetime),
            .duration("stale-if-unavailable", .zero ... .seconds(day), \.staleTime),
        ]
    )
}

// MARK: Passwords

extension PasswordSettings {
    static let schema = BlockSchema<PasswordSettings>(
        name: "passwords",
        example: "passwords { hash argon2id memory=19MiB passes=2; }",
        statements: [
            .value("hash", \.policy) { $0.hashPolicy($1) },
            .integer("minimum-length", 1...64, \.minimumLength),
            .integer("workers", 1...1024, \.slots.workers),
            .value("memory", \.slots.memory) { $0.size($1, 1 << 20...1 << 40) },
            .integer("queue", 1...4096, \.slots.queue),
            .duration("wait", .milliseconds(100) ... .seconds(300), \.slots.wait),
            .duration("longest-check", .milliseconds(100) ... .seconds(60), \.slots.longestCheck),
            .choice("when-full", \.slots.whenFull),
            .integer("niceness", 0...19, \.slots.niceness),
        ]
    ) { block, settings in
        guard let needed = try? settings.policy.decoy().cost.memory, needed > settings.slots.memory else { return }
        let (oneHash, limit) = (Block.text(bytes: needed), Block.text(bytes: settings.slots.memory))
        let message = "one hash needs \(oneHash) of memory, but the limit for all hashes together is \(limit)"
        block.error(at: "hash", or: "memory", message, hint: "set memory to \(oneHash) or more")
        // With the larger limit, the creation of the slots does not report the same error again.
        settings.slots.memory = needed
    }
}

extension Block {
    fileprivate func hashPolicy(_ keyword: String) -> HashPolicy? {
        let words = words(keyword)
        let texts = words.compactMap(builder.expanded)
        guard let first = words.first, texts.count == words.count else { return nil }
        do throws(BadValue) {
            let policy = try HashPolicy(words: texts)
            if let warning = policy.warning { builder.warn(at: first.range, "hash: \(warning)") }
            return policy
        } catch {
            // The error is shown at the first word that causes it.
            let place = words.indices.first { last in
                let beginning = Result { () throws(BadValue) in try HashPolicy(words: Array(texts[...last])) }
                guard case .failure(let fault) = beginning else { return false }
                return fault == error
            }
            builder.error(at: words[place ?? 0].range, "hash \(error)")
            return nil
        }
    }
}
