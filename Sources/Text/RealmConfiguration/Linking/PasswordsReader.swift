// SPDX-License-Identifier: Apache-2.0

internal import LoginConf
internal import Passwords
internal import RealmKit

/// Reads the `passwords` block.
struct PasswordsReader {
    let builder: ConfigurationBuilder

    private static let keywords = [
        "hash", "minimum-length", "workers", "memory", "queue", "wait", "when-full", "niceness", "longest-check",
    ]

    func read(_ statement: Statement?) -> PasswordSettings {
        var settings = PasswordSettings()
        let hint = "as in: passwords { hash argon2id memory=19MiB passes=2; }"
        guard let statement, let statements = builder.block(statement, hint: hint) else { return settings }
        let block = Block(statements, of: "passwords", Self.keywords, in: builder)
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
