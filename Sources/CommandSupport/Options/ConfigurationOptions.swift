// SPDX-License-Identifier: Apache-2.0
// Gatehouse

package import ArgumentParser
package import HostServices
package import LoginConf
package import RealmConfiguration
package import RealmKit

/// The arguments that select the configuration.
package struct ConfigurationOptions: ParsableArguments {
    @Option(
        name: .long,
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
    ///
    /// - Parameters:
    ///   - kinds: The types of realms and modules that the program contains.
    ///   - services: The services for the realms.
    /// - Returns: The configuration, with its warnings.
    /// - Throws: ``ConfigurationErrors`` with all errors.
    package func load(
        _ kinds: [RealmKind],
        services: ProgramServices
    ) throws(ConfigurationErrors) -> Configuration {
        let loader = ConfigurationLoader(
            kinds,
            files: .system,
            clock: SystemClock(),
            properties: SystemProperties.all.merging(properties) { _, given in given },
            services: services
        )
        return try loader.load(config ?? ConfigurationPath.standard)
    }
}
