// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import ChatSite
import Foundation
import Hummingbird
import HummingbirdRealms
import Logging

let logger = Logger(label: "chat")
try await exitOnConfigurationErrors {
    let realms = try await Realms("realms.conf", kinds: builtInRealms, logger: logger)
    let room = Room { Date().timeIntervalSince1970 }
    let application = Application(
        router: try makeRouter(realms, room),
        server: try .openSSL(realms),
        configuration: ApplicationConfiguration(address: realms.address),
        services: [realms],
        logger: logger
    )
    try await realms.serve(application)
}
