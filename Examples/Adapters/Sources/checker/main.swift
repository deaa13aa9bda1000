// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Logging
import RealmVerifier

try await exitOnConfigurationErrors {
    let verifier = try await RealmVerifier(kinds: builtInRealms, logger: Logger(label: "checker")) {
        RealmDefinition("team") { name, password in
            name == "ann" && password.isEqual(to: Secret(utf8: "violet lamp")) ? ["Staff"] : nil
        }
        RealmDefinition("guests", class: "StartWithRealm", ["startWith": "guest"])
    }
    for (name, password) in [("ann", "violet lamp"), ("ann", "a guess"), ("guest1", "")] {
        switch await verifier.verify(name, password: Secret(utf8: password), in: ["team", "guests"]) {
        case .accepted(let user): print("\(user.username) of \(user.realm): \(user.groups)")
        case .refused, .questions: print("refused")
        case .unavailable: print("try again later")
        }
    }
}
