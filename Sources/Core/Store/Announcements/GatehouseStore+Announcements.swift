// SPDX-License-Identifier: Apache-2.0

internal import GRDB

extension GatehouseStore: AnnouncementStore {
    /// Reads the message to all users.
    public func announcement() async throws(StoreFault) -> Announcement? {
        try await read { database in
            let statement = try database.cachedStatement(sql: "SELECT text, expiry FROM announcement")
            return try Row.fetchOne(statement).map { Announcement($0["text"], until: $0["expiry"]) }
        }
    }

    /// Stores the message to all users, in place of an earlier one.
    ///
    /// - Parameter announcement: The message; nil to remove it.
    /// - Throws: ``StoreFault`` with code `unavailable`.
    public func setAnnouncement(_ announcement: Announcement?) async throws(StoreFault) {
        try await write { database in
            guard let announcement else {
                try database.execute(sql: "DELETE FROM announcement")
                return
            }
            try database.execute(
                sql: "INSERT OR REPLACE INTO announcement (number, text, expiry) VALUES (1, ?, ?)",
                arguments: [announcement.text, announcement.end]
            )
        }
    }
}
