// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Logging
import RealmVerifier

func verifierOfFile(_ logger: Logger) async throws -> RealmVerifier {
    try await RealmVerifier("realms.conf", kinds: builtInRealms, logger: logger)
}
