// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser

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

/// The arguments that say which configuration to use.
struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp(
            "The configuration. Default: realms.conf here, else /etc/gatehouse/realms.conf.",
            valueName: "file"
        )
    )
    var config: String?

    @Option(
        name: .customShort("D"),
        help: ArgumentHelp("What ${name} stands for in the configuration.", valueName: "name=value")
    )
    var property: [String] = []

    func validate() throws {
        for definition in property where !definition.contains("=") {
            throw ValidationError("-D takes name=value, not \(definition)")
        }
    }

    var properties: [String: String] {
        Dictionary(
            property.map { definition in
                let parts = definition.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), String(parts[1]))
            }
        ) { _, last in last }
    }
}
