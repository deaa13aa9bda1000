// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ConfiguredTLS
internal import HTTPLimits
internal import HTTPServer
internal import Logging
internal import LoginConf
internal import NIOCore
internal import NIOOpenSSL
internal import NIOPosix
internal import OpenSSLKit
internal import RealmConfiguration
internal import SignIn

extension GatehouseServer {
    /// The open listeners of the server.
    struct Listening {
        var channels: [any Channel] = []
        /// The URL of each address, such as `https://127.0.0.1:8443`.
        var urls: [String] = []
    }

    /// The error of an address on which the server cannot listen.
    struct BindFailure: Error {
        let errors: ConfigurationErrors
        /// The listeners that are open already.
        let channels: [any Channel]
    }

    /// Listens on the sockets of the service manager; if there are none, on the configured addresses.
    func listen(_ server: HTTPListener) async throws(BindFailure) -> Listening {
        let sockets = serviceManager.sockets
        guard sockets.isEmpty else { return try await listen(server, on: sockets) }
        var listening = Listening()
        for address in configuration.server.listen {
            do {
                let channel = try await server.listen(host: address.host, port: address.port)
                let port = channel.localAddress?.port ?? address.port
                listening.channels.append(channel)
                listening.urls.append(Self.url(host: address.host, port: port))
            } catch {
                throw BindFailure(errors: BindErrors.errors(error, address), channels: listening.channels)
            }
        }
        return listening
    }

    private func listen(_ server: HTTPListener, on sockets: [InheritedSocket]) async throws(BindFailure) -> Listening {
        var listening = Listening()
        for socket in sockets {
            do {
                let channel = try await server.listen(onSocket: socket.descriptor)
                listening.channels.append(channel)
                let address = channel.localAddress
                listening.urls.append(Self.url(host: address?.ipAddress ?? "", port: address?.port ?? 0))
            } catch {
                let text = SourceText(name: configuration.file, bytes: [])
                let message = "cannot listen on descriptor \(socket.descriptor) of the service manager: \(error)"
                throw BindFailure(
                    errors: ConfigurationErrors(message, at: .none, in: text),
                    channels: listening.channels
                )
            }
        }
        logger.notice("the service manager has passed sockets; `listen` in the configuration is not used")
        return listening
    }

    /// Listens on the addresses of the `metrics` block; if it throws, no channel is open.
    func listenForMetrics(on group: any EventLoopGroup) async throws(ConfigurationErrors) -> [any Channel] {
        guard let metrics else { return [] }
        let listener = MetricsListener(metrics: metrics, group: group)
        var channels: [any Channel] = []
        for address in configuration.server.metricsAddresses {
            do {
                let channel = try await listener.listen(host: address.host, port: address.port)
                channels.append(channel)
                let bound = ServerSettings.Address(host: address.host, port: channel.localAddress?.port ?? address.port)
                logger.notice("metrics are served", metadata: ["url": "http://\(bound)/metrics"])
            } catch {
                for channel in channels { channel.close(promise: nil) }
                throw BindErrors.errors(error, address)
            }
        }
        return channels
    }

    private static func url(host: String, port: Int) -> String {
        "https://\(ServerSettings.Address(host: host, port: port))"
    }

    func makeResponder(
        _ configuration: Configuration,
        _ tls: ServerTLS,
        isReload: Bool = false
    ) throws -> any Responder {
        let signIn = try SignIn(
            configuration,
            service: service,
            isCertificateTrusted: !tls.certificate.isDevelopment,
            isReload: isReload
        )
        let log = AccessLog(accessLog, clock: SystemClock(), isEnabled: configuration.server.hasAccessLog)
        let responder = try GatehouseResponder(configuration, signIn, log: log, places: places)
        guard let metrics else { return responder }
        return MeasuredResponder(responder: responder, metrics: metrics.requests)
    }

    func makeServer(
        on group: MultiThreadedEventLoopGroup,
        limits: HTTPLimits,
        contexts: TLSContextSource
    ) async throws -> HTTPListener {
        let logger = logger
        var onHandshake: (@Sendable (TLSHandshakeCompleted) -> Void)?
        if let metrics { onHandshake = { metrics.countHandshake($0) } }
        let plainHTTP = PlainHTTPLog(logger, clock: SystemClock())
        return try await HTTPListener(
            group: group,
            limits: limits,
            responder: try makeResponder(configuration, tls),
            clock: { Int(time(nil)) },
            makeTLS: {
                try OpenSSLHandler(
                    server: contexts.current,
                    // HTTP detects truncated requests, so TLS does not have to require `close_notify`. The listener
                    // sets the deadlines of all connections, including the deadline of the handshake.
                    configuration: OpenSSLHandlerConfiguration(
                        handshakeTimeout: nil,
                        toleratesUncleanShutdown: true,
                        plainHTTPResponse: PlainHTTPResponse.bytes
                    )
                )
            },
            onError: { [metrics] error, connection in
                metrics?.countError(error)
                ConnectionErrorLog.log(error, of: connection, to: logger, plainHTTP: plainHTTP)
            },
            onHandshake: onHandshake
        )
    }
}

/// The error messages for addresses that cannot be bound, with the line of the address in the configuration.
enum BindErrors {
    static func errors(_ error: any Error, _ address: Located<ServerSettings.Address>) -> ConfigurationErrors {
        switch error {
        case let error as IOError:
            address.bindErrors(error.errnoCode)
                ?? address.errors(
                    "cannot listen on \(address.value): \(unsafe String(cString: strerror(error.errnoCode)))"
                )
        case is SocketAddressError, is SocketAddressError.UnknownHost:
            address.errors(
                "cannot listen on \(address.value): the host name cannot be resolved",
                hint: "HOST must be a name or an address of this machine"
            )
        default:
            address.errors(
                "cannot listen on \(address.value): \(error)",
                hint: "HOST must be a name or an address of this machine"
            )
        }
    }
}
