// SPDX-License-Identifier: Apache-2.0

import GRPCCore
import GRPCInProcessTransport
import GRPCRealms
import Instrumentation
import Logging
import RealmKit
import RealmVerifier

/// A service whose messages are texts, in this process.
struct Door: RegistrableRPCService, MessageSerializer, MessageDeserializer {
    typealias Call = @Sendable (MethodDescriptor, Metadata) async throws -> String

    /// Answers with the user that the handler sees, and the user that the response producer sees.
    static let open = MethodDescriptor(fullyQualifiedService: "Door", method: "Open")
    /// Answers with the keys of the metadata.
    static let list = MethodDescriptor(fullyQualifiedService: "Door", method: "List")
    /// Answers with an error of the handler.
    static let fail = MethodDescriptor(fullyQualifiedService: "Door", method: "Fail")
    /// Answers with an error of the response producer, after a message.
    static let drop = MethodDescriptor(fullyQualifiedService: "Door", method: "Drop")

    private static var user: String { ServiceContext.current?.signedInUser?.username.text ?? "nobody" }

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.open, deserializer: self, serializer: self) { request, _ in
            let before = Self.user
            for try await _ in request.messages {}
            await Task.yield()
            return StreamingServerResponse(of: String.self) { writer in
                let after = Self.user
                await Task.yield()
                try await writer.write("\(before) \(after) \(Self.user)")
                return [:]
            }
        }
        router.registerHandler(forMethod: Self.list, deserializer: self, serializer: self) { request, _ in
            StreamingServerResponse(single: ServerResponse(message: request.metadata.map(\.key).sorted().joined()))
        }
        router.registerHandler(forMethod: Self.fail, deserializer: self, serializer: self) { _, _ in
            StreamingServerResponse(of: String.self, error: RPCError(code: .notFound, message: "no door"))
        }
        router.registerHandler(forMethod: Self.drop, deserializer: self, serializer: self) { _, _ in
            StreamingServerResponse(of: String.self) { writer in
                try await writer.write("")
                throw RPCError(code: .dataLoss, message: "the door broke")
            }
        }
    }

    func serialize<Bytes: GRPCContiguousBytes>(_ text: String) -> Bytes { Bytes(text.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        unsafe bytes.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
    }

    /// Calls a service in which `ann` of the group `Staff` and `ben` have the password `right`.
    ///
    /// The function that `calls` gets returns the message, or the code and the text of the error.
    static func serve(
        _ pipeline: (RealmVerifier) -> [ConditionalInterceptor<any ServerInterceptor>] = {
            [.apply(RealmInterceptor($0), to: .all)]
        },
        calls: (@escaping Call) async throws -> Void
    ) async throws {
        let verifier = try await RealmVerifier(logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }) {
            RealmDefinition("team") { name, password in
                if name == "cut" { throw LoginFault.unavailable("the table is locked") }
                return password.isEqual(to: Secret(utf8: "right")) ? ["ann": ["Staff"], "ben": []][name] : nil
            }
            RealmDefinition("other") { name, _ in name == "eve" ? [] : nil }
        }
        let (transport, door) = (InProcessTransport(), Door())
        try await withGRPCServer(
            transport: transport.server,
            services: [door],
            interceptorPipeline: pipeline(verifier)
        ) { _ in
            try await withGRPCClient(transport: transport.client) { client in
                try await calls { method, metadata in
                    try await client.unary(
                        request: ClientRequest(message: "", metadata: metadata),
                        descriptor: method,
                        serializer: door,
                        deserializer: door,
                        options: .defaults
                    ) { response in
                        do {
                            return try response.message
                        } catch let error as RPCError {
                            return "\(error.code): \(error.message)"
                        }
                    }
                }
            }
        }
    }
}
