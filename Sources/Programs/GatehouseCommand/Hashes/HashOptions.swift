// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse hash`: the hash of a password, or hash parameters for this machine.
    struct Hash: ParsableCommand {
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
        @Flag(name: .long, help: "Find argon2id parameters for the time and memory of a check.") var calibrate = false
        @Option(name: .long, help: ArgumentHelp("The time of a check, in milliseconds.", valueName: "ms"))
        var time = 250
        @Option(name: .long, help: ArgumentHelp("The memory of a check, in MiB.", valueName: "MiB"))
        var memory = 64
    }
}
