// SPDX-License-Identifier: Apache-2.0

/// A realm whose back end can be tested step by step without a login, for example by `gatehouse realm test`.
public protocol TestableRealm: Realm {
    /// Tests the back end: connects to each server, signs in there as the realm does, and makes its requests.
    ///
    /// It must end within the time limits of the realm, also if the back end does not answer. It asks for no password of
    /// a user, and changes nothing.
    ///
    /// - Parameters:
    ///   - user: A user to look up as at a login; nil for none.
    ///   - report: Receives each step when it has ended. It is called on any thread.
    func testBackEnd(user: Username?, report: @escaping @Sendable (BackEndStep) -> Void) async
}

/// One step of a test of a realm's back end.
public struct BackEndStep: Sendable, Hashable {
    /// The request, its result and its time, without secrets.
    public let text: String
    /// True if the realm cannot work as it is, or a user cannot sign in for this reason.
    public let isFailure: Bool

    /// Creates a step.
    ///
    /// - Parameters:
    ///   - text: The request, its result and its time, without secrets.
    ///   - isFailure: True if the realm cannot work as it is, or a user cannot sign in for this reason.
    public init(_ text: String, isFailure: Bool = false) {
        self.text = text
        self.isFailure = isFailure
    }
}
