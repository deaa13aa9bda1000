// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import ConfiguredTLS
internal import Glibc
internal import HTTPSClient
internal import LoginConf
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse health`: for the health checks of containers, which have no other program.
    struct Health: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "health",
            abstract: "Check that the server of the configuration answers requests.",
            discussion: """
                The command sends a request to the first address of listen. It accepts any certificate, because the request has \
                no secrets. It names the certificates of the server and of the configuration that expire within 30 days, and \
                the first error of a configuration with which the server could not be started again. Exit status: 0 the \
                server answers, 3 it does not and the configuration has errors, or they hide its address, 4 it does not.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(
            help: ArgumentHelp("The address of the server. Default: that of the configuration.", valueName: "host:port")
        )
        var address: String?
        @Option(help: ArgumentHelp("The time to wait, in seconds.", valueName: "seconds")) var timeout = 5

        func validate() throws {
            guard (1...3600).contains(timeout) else { throw ValidationError("--timeout takes 1 to 3600 seconds") }
            guard let address, !Self.isAddress(address) else { return }
            throw ValidationError("--address takes HOST:PORT, as in 127.0.0.1:8443 or [::1]:8443, not \(address)")
        }

        /// True if a text is the host and the port of a URL, and nothing else.
        private static func isAddress(_ text: String) -> Bool {
            let port = text.utf8.reversed().prefix { ASCII.isDigit($0) }.count
            let host = text.utf8.dropLast(port)
            return port > 0 && host.last == ASCII.colon && !text.utf8.contains(where: "/?#".utf8.contains)
                && (try? HTTPSURL("https://\(text)/")) != nil
        }

        func perform(_ kinds: [RealmKind]) async throws {
            var warnings: [String] = []
            var errors: CommandError?
            let asked: String
            if let address {
                asked = address
            } else {
                let services = GatehouseCommand.services(.existingOnly)
                let (configuration, found) = try options.loadPartially(kinds, services: services)
                errors = found.map { CommandError(.configuration, $0.description) }
                // Without a readable listen statement, another server may answer at the default address.
                if let errors, configuration.server.listen.first?.isDefault != false { throw errors }
                if let found {
                    let first = found.diagnostics.first { $0.severity == .error }?.logLine ?? ""
                    warnings.append("the server could not be started again with the configuration: \(first)")
                } else {
                    warnings = ExpiringCertificates(configuration, files: .system).warnings(at: .system).map(\.message)
                }
                guard let address = Self.address(of: configuration) else {
                    throw errors ?? CommandError(.usage, "the configuration has no port; use --address HOST:PORT")
                }
                asked = address
            }
            let url = "https://\(asked)/health"
            let answer: HTTPSProbe
            do throws(HTTPSClientError) {
                answer = try await HTTPSProbe(HTTPSURL(url), userAgent: "gatehouse-health", timeout: .seconds(timeout))
            } catch {
                throw errors
                    ?? CommandError(error.code == .invalidRequest ? .usage : .unavailable, "\(url): \(error.cause)")
            }
            // A rule may protect the page: then the answer is 401, and the server runs.
            guard answer.status < 500 else {
                throw errors ?? CommandError(.unavailable, "\(url): the answer is \(answer.status)")
            }
            GatehouseCommand.print("\(url): the answer is \(answer.status)")
            // The server may run with older files than those of its configuration.
            if let certificate = answer.certificate,
                let text = ExpiringCertificates.warning(certificate, "of \(url)", at: .system)
            {
                warnings.append(text)
            }
            for text in warnings { GatehouseCommand.print("warning: \(Printable.line(text))") }
        }

        /// The first address of the configuration; nil if it has no port.
        private static func address(of configuration: Configuration) -> String? {
            guard let address = configuration.server.listen.first?.value, address.port != 0 else { return nil }
            // A server that listens on all addresses of the machine also listens on the loopback address.
            let host = ["0.0.0.0": "127.0.0.1", "::": "::1"][address.host] ?? address.host
            return "\(ServerSettings.Address(host: host, port: address.port))"
        }
    }
}
