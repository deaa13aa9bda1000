// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import LoginConf
internal import Passwords
internal import RealmKit

/// Reads the `passwords` block.
struct PasswordsReader {
    let linker: Linker

    private static let keywords = [
        "hash", "minimum-length", "workers", "memory", "queue", "wait", "when-full", "niceness",
    ]

    func read(_ statement: Statement?) -> PasswordSettings {
        var settings = PasswordSettings()
        let hint = "as in: passwords { hash argon2id memory=19MiB passes=2; }"
        guard let statement, let statements = linker.block(statement, hint: hint) else { return settings }
        let block = Block(statements, of: "passwords", Self.keywords, in: linker)
        let scalars = ScalarReader(linker: linker, block: block)
        if let hash = block.once("hash") { read(hash, into: &settings.policy) }
        scalars.integer("minimum-length", 1...64, into: &settings.minimumLength)
        scalars.integer("workers", 1...1024, into: &settings.slots.workers)
        scalars.size("memory", 1 << 20...1 << 40, into: &settings.slots.memory)
        scalars.integer("queue", 1...1_000_000, into: &settings.slots.queue)
        scalars.duration("wait", .milliseconds(100) ... .seconds(300), into: &settings.slots.wait)
        scalars.choice("when-full", into: &settings.slots.whenFull)
        scalars.integer("niceness", 0...19, into: &settings.slots.niceness)
        return settings
    }

    private func read(_ statement: Statement, into policy: inout HashPolicy) {
        let words = linker.words(statement)
        let texts = words.compactMap(linker.expanded)
        guard let first = words.first, texts.count == words.count else { return }
        do throws(BadValue) {
            policy = try HashPolicy(words: texts)
            if let warning = policy.warning { linker.log.add(linker.text.warning(at: first.range, "hash: \(warning)")) }
        } catch {
            linker.error(first.range, "hash \(error)")
        }
    }
}
