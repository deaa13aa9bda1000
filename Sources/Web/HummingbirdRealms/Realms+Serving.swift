// SPDX-License-Identifier: Apache-2.0

public import Hummingbird
internal import HummingbirdCore
internal import Logging
internal import LoginConf
internal import NIOCore
internal import RealmConfiguration
internal import ServiceLifecycle
internal import UnixSignals

extension Realms {
    /// Runs an application with its services until SIGTERM or SIGINT; SIGHUP reloads the realms.
    ///
    /// If the address of the application is ``address``, it begins to listen on all addresses of `listen`, one
    /// after the other in the order of the file. Its services run once, and what it runs before the server
    /// starts is run once, before the first address. `onServerRunning` is called for each address. An
    /// application with another address serves that one.
    ///
    /// If a reload fails, the errors are logged, and the present configuration stays in use.
    ///
    /// - Parameter application: The application, with the realms among its services.
    /// - Throws: `ConfigurationErrors` with the line of `listen`, if the application cannot listen on an
    ///   address of it. The application then ends on all addresses. The errors of the application otherwise.
    public func serve(_ application: some ApplicationProtocol) async throws {
        let services = try await listeners(of: application)
        let hangups = await UnixSignalsSequence(trapping: .sighup)
        let group = ServiceGroup(
            services: services,
            gracefulShutdownSignals: [.sigterm, .sigint],
            logger: application.logger
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask {
                for await _ in hangups {
                    do throws(ConfigurationErrors) {
                        try await self.reload()
                    } catch {
                        for diagnostic in error.diagnostics where diagnostic.severity == .error {
                            self.logger.error("the configuration was not reloaded: \(diagnostic.logLine)")
                        }
                    }
                }
            }
            try await group.run()
            tasks.cancelAll()
        }
    }

    /// Returns an application for each address of `listen`, of which only the first has the services.
    func listeners<Base: ApplicationProtocol>(of application: Base) async throws -> [any Service] {
        guard application.configuration.address == address, !settings.listen.isEmpty else { return [application] }
        let responder = try await application.responder
        var listeners: [any Service] = []
        var before: AsyncStream<Void>?
        for listen in settings.listen {
            let (isListening, listening) = AsyncStream.makeStream(of: Void.self)
            let onAddress = OneAddress(application, responder, on: listen.value, after: before) { listening.finish() }
            listeners.append(Listener(application: onAddress, listen: listen))
            before = isListening
        }
        return listeners
    }
}

/// An application on one address, whose line is reported if it cannot be bound.
private struct Listener: Service, CustomStringConvertible {
    let application: any ApplicationProtocol
    let listen: Located<ServerSettings.Address>

    /// The name of the service in logs, where the text of realms.conf must not be.
    var description: String { "\(application) on \(listen.value)" }

    func run() async throws {
        do {
            try await application.run()
        } catch let error as IOError {
            guard let errors = listen.bindErrors(error.errnoCode) else { throw error }
            throw errors
        }
    }
}

/// A part of an application: its requests on one of its addresses.
private struct OneAddress<Base: ApplicationProtocol>: ApplicationProtocol, CustomStringConvertible {
    let responder: Base.Responder
    private let base: Base
    private let address: ServerSettings.Address
    /// Ends when the application listens on the address before this one; nil for the first address.
    private let before: AsyncStream<Void>?
    private let onListening: @Sendable () -> Void

    init(
        _ base: Base,
        _ responder: Base.Responder,
        on address: ServerSettings.Address,
        after before: AsyncStream<Void>?,
        onListening: @escaping @Sendable () -> Void
    ) {
        (self.base, self.responder, self.address, self.before) = (base, responder, address, before)
        self.onListening = onListening
    }

    var description: String { "\(base)" }
    var server: HTTPServerBuilder { base.server }
    var eventLoopGroup: any EventLoopGroup { base.eventLoopGroup }
    var logger: Logger { base.logger }
    var services: [any Service] { before == nil ? base.services : [] }

    var configuration: ApplicationConfiguration {
        var configuration = base.configuration
        configuration.address = address.bindAddress
        return configuration
    }

    // With another isolation of the functions, it would be no requirement of the protocol, which has a default.
    var processesRunBeforeServerStart: [@Sendable @concurrent () async throws -> Void] {
        guard let before else { return base.processesRunBeforeServerStart }
        return [
            {
                for await _ in before {}
                // The stream also ends if the address before this one could not be bound.
                try Task.checkCancellation()
            }
        ]
    }

    func onServerRunning(_ channel: any Channel) async {
        await base.onServerRunning(channel)
        onListening()
    }
}

extension ServerSettings.Address {
    var bindAddress: BindAddress { .hostname(host, port: port) }
}
