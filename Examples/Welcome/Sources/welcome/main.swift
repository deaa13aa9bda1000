// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Hummingbird
import HummingbirdRealms
import Logging
import WelcomeSite

let logger = Logger(label: "welcome")
try await exitOnConfigurationErrors {
    let realms = try await Realms("realms.conf", kinds: builtInRealms, logger: logger)
    let application = Application(
        router: try makeRouter(realms),
        server: try .openSSL(realms),
        configuration: ApplicationConfiguration(address: realms.address),
        services: [realms],
        logger: logger
    )
    try await realms.serve(application)
}
