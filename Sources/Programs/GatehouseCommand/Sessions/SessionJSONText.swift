// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import CommandSupport
internal import RealmKit
internal import Sessions

/// Sessions as JSON for programs.
enum SessionJSONText {
    /// A session; a key without a value is left out.
    private struct Object: Encodable {
        let id: String
        /// The session of the sign-in that the session was handed over from.
        let parent: String?
        let user: String
        let realm: String
        let host: String
        let address: String?
        let client: String
        let started: String
        let lastUsed: String
        let expires: String
    }

    static func text(_ session: SessionRecord) -> String {
        let object = Object(
            id: session.id.description,
            parent: session.parent?.description,
            user: session.user.username.text,
            realm: session.user.realm,
            host: session.host.name,
            address: session.client.address,
            client: session.client.userAgent,
            started: UTCTime.text(session.created),
            lastUsed: UTCTime.text(session.lastSeen),
            expires: UTCTime.text(session.end)
        )
        // Encoding strings does not fail.
        do { return try PrintableJSON.text(object) } catch { return "{}" }
    }
}

extension SessionRecord {
    /// The time at which the session ends if it is not used any more.
    var end: Int { min(idleExpiry, absoluteExpiry) }
}
