// SPDX-License-Identifier: Apache-2.0

/// Users that are added to a realm together, such as the users of a file.
///
/// The users are read in batches, so that their number is not limited by the memory. They may be read several times, by
/// one reader at a time.
public protocol UserSource: Sendable {
    /// The number of users.
    var count: Int { get }

    /// Reads all users.
    ///
    /// The caller must discard all users if an error is thrown, even an error at the end.
    ///
    /// - Parameter body: Receives batches of users, in order. An error that it throws ends the reading.
    /// - Throws: ``RealmError`` of code `unavailable` if the users cannot be read, or the source has changed; the error
    ///   of the closure.
    func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError)
}

/// Users in memory.
public struct UserArray: UserSource {
    private let users: [NewUser]

    /// Creates a source.
    ///
    /// - Parameter users: The users.
    public init(_ users: [NewUser]) {
        self.users = users
    }

    /// The number of users.
    public var count: Int { users.count }

    /// Passes all users to the closure in one batch.
    public func read(_ body: ([NewUser]) throws(RealmError) -> Void) throws(RealmError) { try body(users) }
}
