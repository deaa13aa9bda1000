// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

extension GatehouseOptions {
    /// `gatehouse hash`: a password's hash, or what one should cost here.
    struct Hash: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Hash a password as the configuration says, or find out what a hash should cost on this machine.",
            discussion: """
                The hash is written to standard output, to be put into a key file or an htpasswd file. \
                With --calibrate nothing is asked; a hash statement for the passwords block is written.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @OptionGroup var password: NewPasswordOptions
        @Flag(name: .long, help: "Find parameters for argon2id that take about the time given.") var calibrate = false
        @Option(name: .long, help: ArgumentHelp("How long a check may take, in milliseconds.", valueName: "ms"))
        var time = 250
        @Option(name: .long, help: ArgumentHelp("How much memory a check may take, in MiB.", valueName: "MiB"))
        var memory = 64
    }
}
