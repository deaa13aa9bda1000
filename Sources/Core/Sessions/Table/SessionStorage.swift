// SPDX-License-Identifier: Apache-2.0

/// The service for a server with sessions: the store of its state folder.
package struct SessionStorage: Sendable {
    /// Opens the store at the first call.
    package let open: @Sendable () throws -> any SessionStore
    /// Reads the message to all users, which may have ended; nil if there is none.
    package let announcement: @Sendable () async throws -> Announcement?

    package init(
        open: @escaping @Sendable () throws -> any SessionStore,
        announcement: @escaping @Sendable () async throws -> Announcement?
    ) {
        (self.open, self.announcement) = (open, announcement)
    }
}

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
