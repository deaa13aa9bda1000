// SPDX-License-Identifier: Apache-2.0

internal import Bytes
public import Instrumentation
public import Logging
public import RealmKit

@_exported public import typealias Instrumentation.ServiceContext

extension ServiceContext {
    private enum SignedInUserKey: ServiceContextKey {
        typealias Value = SignedInUser
    }

    /// The user of the request that the task handles; nil if it has none.
    ///
    /// Middleware sets it for the handlers of a request, by ``withSignedInUser(_:operation:)``. Every library that handles
    /// the request can read it: `ServiceContext.current?.signedInUser`. Tracers do not send it to other programs.
    public var signedInUser: SignedInUser? {
        get { self[SignedInUserKey.self] }
        set { self[SignedInUserKey.self] = newValue }
    }
}

/// Runs an operation with a user as the `ServiceContext.signedInUser` of its task and of the child tasks.
///
/// - Parameters:
///   - user: The user; nil for none, also within an operation of a user.
///   - operation: The operation, such as the handler of a request.
/// - Returns: The result of the operation.
/// - Throws: The error of the operation.
public func withSignedInUser<Result>(
    _ user: SignedInUser?,
    operation: () async throws -> Result
) async rethrows -> Result {
    var context = ServiceContext.current ?? .topLevel
    context.signedInUser = user
    return try await ServiceContext.$current.withValue(context, operation: operation)
}

extension Logger.MetadataProvider {
    /// Adds the user and the realm of `ServiceContext.signedInUser` to log lines.
    ///
    /// They are quoted as in the lines about logins, so that a name cannot forge another field.
    public static let signedInUser = Logger.MetadataProvider {
        guard let user = ServiceContext.current?.signedInUser else { return [:] }
        return ["user": "\(LogText.quoted(user.username.text))", "realm": "\(LogText.quoted(user.realm))"]
    }
}
