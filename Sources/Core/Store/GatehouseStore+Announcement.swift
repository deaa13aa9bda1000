// SPDX-License-Identifier: Apache-2.0

internal import GRDB
package import Sessions

/// The message to all users, of which there is at most one; other programs can change it while a server reads it.
extension GatehouseStore {
    /// Reads the message to all users, which may have ended; nil if there is none.
    package func announcement() async throws(StoreFault) -> Announcement? {
        try await read { database in
            try database.rows("SELECT text, expiry FROM announcement").first.map {
                Announcement($0["text"], until: $0["expiry"])
            }
        }
    }

    /// Stores the message to all users, in place of an earlier one; nil removes it.
    package func setAnnouncement(_ announcement: Announcement?) async throws(StoreFault) {
        try await write { database in
            guard let announcement else { return try database.run("DELETE FROM announcement") }
            try database.run(
                "INSERT OR REPLACE INTO announcement (number, text, expiry) VALUES (1, ?, ?)",
                [announcement.text, announcement.end]
            )
        }
    }
}
