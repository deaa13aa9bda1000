// SPDX-License-Identifier: Apache-2.0

import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import NIORealms
import RealmVerifier
import ServiceLifecycle

let logger = Logger(label: "greeter")
let verifier = try await RealmVerifier(logger: logger) {
    RealmDefinition("team") { $0 == "ann" && $1.isEqual(to: Secret(utf8: "violet lamp")) ? ["Staff"] : nil }
}
let server = ClosureService {
    let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.configureHTTPServerPipeline()
            try channel.pipeline.syncOperations.addHandlers(HTTPServerAuthenticationHandler(verifier), Greeter())
        }
    }
    let listener = try await bootstrap.bind(host: "127.0.0.1", port: 8080).get()
    try await withGracefulShutdownHandler {
        try await listener.closeFuture.get()
    } onGracefulShutdown: {
        listener.close(promise: nil)
    }
}
try await ServiceGroup(services: [verifier, server], gracefulShutdownSignals: [.sigterm], logger: logger).run()
