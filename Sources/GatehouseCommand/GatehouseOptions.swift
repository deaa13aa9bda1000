// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import CommandOptions

/// The arguments of `gatehouse`.
struct GatehouseOptions: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gatehouse",
        abstract: "A server that lets in whom its realms accept.",
        discussion: "Exit status: 0 all went well, 2 wrong arguments, 3 wrong configuration.",
        subcommands: [Serve.self, Check.self]
    )

    struct Serve: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Serve until SIGTERM or SIGINT.")

        @OptionGroup var options: ConfigurationOptions
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Read the configuration, say what is wrong with it, or what it comes to."
        )

        @OptionGroup var options: ConfigurationOptions
    }
}
