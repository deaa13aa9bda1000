// SPDX-License-Identifier: Apache-2.0

internal import GRDB

/// A message of the administrator to all users, which the sign-in pages and the account page show until a time.
package struct Announcement: Sendable, Hashable {
    /// The maximum length of the text in Unicode scalars.
    package static let maximumLength = 300

    package let text: String
    /// The time at which the message ends, in seconds since 1970.
    package let end: Int

    /// Creates a message until a time in seconds since 1970; the text is cut to ``maximumLength``.
    package init(_ text: String, until end: Int) {
        let scalars = text.unicodeScalars
        let isTooLong = scalars.index(scalars.startIndex, offsetBy: Self.maximumLength, limitedBy: scalars.endIndex)
            .map { $0 < scalars.endIndex }
        self.text = isTooLong == true ? String(String.UnicodeScalarView(scalars.prefix(Self.maximumLength))) : text
        self.end = end
    }
}

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
