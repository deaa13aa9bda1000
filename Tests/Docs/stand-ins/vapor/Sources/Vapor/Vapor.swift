// SPDX-License-Identifier: Apache-2.0

// The declarations have the names and the types of those of Vapor 4. `Application.execute` answers a request for each line of the
// standard input, the value of its `Authorization` field, and prints the status and the body.

@_exported import Logging
@_exported import NIOCore
@_exported import NIOHTTP1

/// Something that answers requests.
public protocol AsyncResponder: Sendable {
    /// Answers a request.
    func respond(to request: Request) async throws -> Response
}

/// Something between requests and the responder.
public protocol AsyncMiddleware: Sendable {
    /// Answers a request, or passes it on.
    func respond(to request: Request, chainingTo next: any AsyncResponder) async throws -> Response
}

/// A type of users.
public protocol Authenticatable {}

/// A request.
public final class Request: @unchecked Sendable {
    /// The authenticated users of a request.
    public struct Authentication {
        fileprivate var users: [any Authenticatable] = []

        /// Stores a user.
        public mutating func login(_ user: some Authenticatable) { users.append(user) }

        /// Returns the user of a type, or throws 401.
        public func require<User: Authenticatable>(_ type: User.Type = User.self) throws -> User {
            guard let user = users.lazy.compactMap({ $0 as? User }).last else { throw Abort(.unauthorized) }
            return user
        }
    }

    /// The header fields.
    public var headers: HTTPHeaders
    /// The address of the socket.
    public var remoteAddress: SocketAddress?
    /// The users.
    public var auth = Authentication()

    init(headers: HTTPHeaders, remoteAddress: SocketAddress?) {
        (self.headers, self.remoteAddress) = (headers, remoteAddress)
    }
}

/// A response.
public final class Response: @unchecked Sendable {
    /// The status.
    public var status: HTTPResponseStatus
    /// The body.
    public var body: String

    init(status: HTTPResponseStatus, body: String) { (self.status, self.body) = (status, body) }
}

/// An error that is a response.
public struct Abort: Error {
    /// The status.
    public var status: HTTPResponseStatus
    /// The header fields.
    public var headers: HTTPHeaders

    /// Creates an error.
    public init(_ status: HTTPResponseStatus, headers: HTTPHeaders = [:], reason: String? = nil) {
        (self.status, self.headers) = (status, headers)
    }
}

/// The environment of an application.
public struct Environment: Sendable {
    /// The environment of this process.
    public static func detect() throws -> Environment { Environment() }
}

/// A server.
public final class Application: @unchecked Sendable {
    private struct Chain: AsyncResponder {
        let middleware: [any AsyncMiddleware]
        let route: @Sendable (Request) async throws -> String

        func respond(to request: Request) async throws -> Response {
            guard let first = middleware.first else { return Response(status: .ok, body: try await route(request)) }
            return try await first.respond(
                to: request,
                chainingTo: Chain(middleware: Array(middleware.dropFirst()), route: route)
            )
        }
    }

    /// Routes behind middleware.
    public struct Group {
        let application: Application
        let middleware: [any AsyncMiddleware]

        /// Adds a route.
        public func get(_ path: String..., use route: @escaping @Sendable (Request) async throws -> String) {
            application.chain = Chain(middleware: middleware, route: route)
        }
    }

    /// The log.
    public let logger = Logger(label: "vapor")
    private var chain: Chain?

    /// Creates an application.
    public static func make(_ environment: Environment) async throws -> Application { Application() }

    /// Returns routes behind middleware.
    public func grouped(_ middleware: any AsyncMiddleware...) -> Group {
        Group(application: self, middleware: middleware)
    }

    /// Answers requests.
    public func execute() async throws {
        while let line = readLine(), let chain {
            let request = Request(
                headers: line.isEmpty ? [:] : ["Authorization": line],
                remoteAddress: try SocketAddress(ipAddress: "192.0.2.1", port: 5555)
            )
            do {
                let response = try await chain.respond(to: request)
                print(response.status.code, response.body, request.headers.count)
            } catch let error as Abort {
                print(error.status.code, error.headers["WWW-Authenticate"].joined())
            }
        }
    }

    /// Ends the application.
    public func asyncShutdown() async throws {}
}
