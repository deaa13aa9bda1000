// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Glibc
internal import Passwords
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse hash`: the hash of a password, or hash parameters for this machine.
    struct Hash: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "hash",
            abstract:
                "Hash a password with the settings of the configuration, or find hash parameters for this machine.",
            discussion: """
                The hash is written to standard output, for a key file or an htpasswd file. With --calibrate there is no \
                prompt; a hash statement for the passwords block is written.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var password: NewPasswordOptions
        @Flag(help: "Find argon2id parameters for the time and memory of a check.") var calibrate = false
        @Option(help: ArgumentHelp("The time of a check, in milliseconds.", valueName: "ms")) var time = 250
        @Option(help: ArgumentHelp("The memory of a check, in MiB.", valueName: "MiB")) var memory = 64

        func perform(_ kinds: [RealmKind]) async throws {
            guard !calibrate else { return try calibrateHash() }
            let settings = try passwordSettings(kinds)
            let secret = try await password.read(for: "the hash")
            try settings.check(secret)
            GatehouseCommand.print(try settings.policy.hash(secret))
        }

        /// The settings of the configuration; the defaults without `--config` and a default configuration file.
        private func passwordSettings(_ kinds: [RealmKind]) throws -> PasswordSettings {
            let exists = unsafe access(ConfigurationPath.standard, F_OK) == 0
            guard options.config != nil || exists else { return PasswordSettings() }
            return try GatehouseCommand.load(options, kinds: kinds, access: .existingOnly).passwords
        }

        private func calibrateHash() throws {
            guard (1...60_000).contains(time), (1...65_536).contains(memory) else {
                throw CommandError(.usage, "--time is from 1 to 60000 ms, --memory from 1 to 65536 MiB")
            }
            let clock = SystemClock()
            let calibration = Calibration(target: .milliseconds(time)) { .nanoseconds(clock.now) }
            let found = try calibration.argon2id(memory: memory << 20)
            let taken = found.time.nanoseconds / 1_000_000
            GatehouseCommand.print("# \(taken) ms for a check on one processor of this machine")
            if found.time > .milliseconds(time) {
                GatehouseCommand.print("# this is longer than --time; cheaper parameters would be too weak")
            }
            if let warning = found.policy.warning { GatehouseCommand.print("# warning: \(warning)") }
            GatehouseCommand.print("passwords {\n    hash  \(found.policy);\n}")
        }
    }
}
