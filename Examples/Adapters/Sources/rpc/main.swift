// SPDX-License-Identifier: Apache-2.0

import GRPCCore
import GRPCInProcessTransport
import GRPCRealms
import Logging
import RealmVerifier
import ServiceLifecycle

let logger = Logger(label: "rpc")
let verifier = try await RealmVerifier(logger: logger) {
    RealmDefinition("team") { name, password in
        password.isEqual(to: Secret(utf8: "violet lamp")) ? ["ann": ["Staff"], "ben": []][name] : nil
    }
}
let transport = InProcessTransport()
let server = GRPCServer(
    transport: transport.server,
    services: [Door()],
    interceptorPipeline: [
        .apply(RealmInterceptor(verifier), to: .all),
        .apply(RequireGroup("Staff"), to: .methods([Door.enter])),
    ]
)
let serving = ClosureService {
    try await withGracefulShutdownHandler {
        try await server.serve()
    } onGracefulShutdown: {
        server.beginGracefulShutdown()
    }
}
let services = ServiceGroup(services: [verifier, serving], gracefulShutdownSignals: [.sigterm], logger: logger)
async let running: Void = services.run()
try await callDoor(transport.client)
await services.triggerGracefulShutdown()
try await running
