// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import LoginConf
import RealmConfiguration
import RealmTesting

/// A realms.conf in memory.
struct InMemoryConfiguration {
    let text: String

    init(_ text: String) { self.text = text }

    func load() throws(ConfigurationErrors) -> Configuration {
        let text = text
        let files = ConfigurationFiles(
            read: { path in
                guard path == "realms.conf" else { return .failure(Expansion.UnreadableFile("No such file")) }
                return .success(Array(text.utf8))
            },
            environment: { _ in nil }
        )
        return try ConfigurationLoader(builtInRealms, files: files, clock: ManualClock()).load("realms.conf")
    }
}
