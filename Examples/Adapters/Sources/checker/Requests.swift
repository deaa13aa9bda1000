// SPDX-License-Identifier: Apache-2.0

import RealmVerifier

/// Answers a request with its Authorization fields, from a client at `peer`, by a status or by the handler.
func answer(
    _ fields: [String],
    peer: String?,
    by verifier: RealmVerifier,
    handler: () async throws -> Int
) async rethrows -> Int {
    guard let credentials = BasicCredentials(authorization: fields) else { return 401 }
    switch await verifier.verify(credentials, service: "web", peer: peer) {
    case .accepted(let user): return try await withSignedInUser(user, operation: handler)
    case .refused, .questions: return 401
    case .unavailable: return 503
    }
}
