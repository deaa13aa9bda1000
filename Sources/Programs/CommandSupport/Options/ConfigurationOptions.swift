// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
package import LoginConf
package import RealmConfiguration
package import RealmKit

package struct ConfigurationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The configuration. Default: realms.conf in the current folder, or /etc/gatehouse/realms.conf if it is missing.",
            valueName: "file"
        ),
        completion: .file()
    )
    package var config: String?
    @Option(
        name: .customShort("D"),
        help: ArgumentHelp("The value of ${name} in the configuration.", valueName: "name=value")
    )
    package var property: [String] = []

    package func validate() throws {
        for definition in property where !definition.contains("=") {
            throw ValidationError("-D takes name=value, not \(definition)")
        }
    }

    private var properties: [String: String] {
        Dictionary(
            property.map { definition in
                let parts = definition.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                return (String(parts[0]), String(parts[1]))
            }
        ) { _, last in last }
    }

    package init() {}

    /// Reads and links the configuration, with the files, the variables and the clock of the system.
    package func load(_ kinds: [RealmKind], services: ProgramServices) throws(ConfigurationErrors) -> Configuration {
        try loader(kinds, services).load(config ?? ConfigurationPath.standard)
    }

    /// Reads and links a configuration for a proof; see ``ConfigurationLoader/isForProof``.
    package func loadForProof(
        _ path: String,
        _ kinds: [RealmKind],
        files: ConfigurationFiles,
        services: ProgramServices
    ) throws(ConfigurationErrors) -> Configuration {
        var loader = loader(kinds, services, files: files)
        loader.isForProof = true
        return try loader.load(path)
    }

    /// Reads the configuration as far as its errors allow; see ``ConfigurationLoader/loadPartially(_:)``.
    package func loadPartially(
        _ kinds: [RealmKind],
        services: ProgramServices
    ) throws(ConfigurationErrors) -> (configuration: Configuration, errors: ConfigurationErrors?) {
        try loader(kinds, services).loadPartially(config ?? ConfigurationPath.standard)
    }

    private func loader(
        _ kinds: [RealmKind],
        _ services: ProgramServices,
        files: ConfigurationFiles = .system
    ) -> ConfigurationLoader {
        ConfigurationLoader(
            kinds,
            files: files,
            clock: SystemClock(),
            properties: SystemProperties.all.merging(properties) { _, given in given },
            services: services
        )
    }

    /// Returns one line for all warnings, for commands that are not about the configuration; nil without warnings.
    package func line(aboutWarningsOf configuration: Configuration) -> String? {
        let count = configuration.warnings.count
        guard count > 0 else { return nil }
        let command = "gatehouse check" + (config.map { " --config \($0)" } ?? "")
        return Printable.line("\(configuration.file): \(count) \(count == 1 ? "warning" : "warnings"); see \(command)")
    }
}
