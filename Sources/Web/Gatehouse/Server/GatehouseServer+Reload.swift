// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ConfiguredTLS
internal import HTTPServer
internal import Logging
internal import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import SignIn

extension GatehouseServer {
    /// The configuration in use.
    struct ActiveConfiguration {
        let configuration: Configuration
        let tls: ServerTLS
    }

    /// Reloads the configuration; returns nil if it has an error, so that the present one stays in use.
    ///
    /// Open connections stay open, and the new rules and realms apply to their next requests. New connections get the
    /// new certificates. Cached credentials are verified again. If the old or the new configuration requests client
    /// certificates, open connections are closed after their open requests.
    func reloaded(
        _ before: ActiveConfiguration,
        server: HTTPListener,
        contexts: TLSContextSource
    ) async -> ActiveConfiguration? {
        do {
            let configuration = try reload()
            guard configuration.server.stateFolder.value == self.configuration.server.stateFolder.value else {
                // After a change of the folder, users would be in the new store, but locks and sessions in the old
                // store.
                throw configuration.server.stateFolder.errors(
                    "the state folder cannot be changed while the server runs"
                )
            }
            let tls = try before.tls.reloaded(configuration.server, files: files)
            await RealmRefresher.runFirstChecks(configuration.realms)
            let responder = try makeResponder(configuration, tls, isReload: true)
            metrics?.countReload(isSuccess: true)
            service.countReload(to: configuration.authenticator)
            server.replaceResponder(with: responder)
            contexts.replace(with: tls.context)
            // The client certificates of open connections were verified by the old configuration.
            let requirements = [before.configuration, configuration].map(\.server.tls.clientCertificates)
            if requirements.contains(where: { $0 != .none }) { server.retireConnections() }
            await service.recheck(configuration)
            for warning in configuration.warnings + tls.warnings { logger.warning("\(warning.logLine)") }
            for name in Self.changesThatNeedRestart(from: self.configuration.server, to: configuration.server) {
                logger.warning("\(name) has changed; the change needs a restart")
            }
            logger.notice("the configuration was reloaded")
            let active = ActiveConfiguration(configuration: configuration, tls: tls)
            reportCertificates(active)
            return active
        } catch {
            metrics?.countReload(isSuccess: false)
            for reason in Self.reasons(error) { logger.error("the configuration was not reloaded: \(reason)") }
            return nil
        }
    }

    /// Returns the errors of a configuration, or the text of another error, each a line for the log.
    private static func reasons(_ error: any Error) -> [String] {
        guard let errors = error as? ConfigurationErrors else { return ["\(error)"] }
        return errors.diagnostics.filter { $0.severity == .error }.map(\.logLine)
    }

    /// Returns the names of the changed settings that are read only when the server starts.
    private static func changesThatNeedRestart(from start: ServerSettings, to now: ServerSettings) -> [String] {
        var names = SignInService.changesThatNeedRestart(from: start, to: now)
        if start.threads != now.threads { names.append("threads") }
        if start.limits != now.limits { names.append("limits") }
        if start.metricsAddresses.map(\.value) != now.metricsAddresses.map(\.value) { names.append("metrics") }
        return names
    }

    /// Replaces a development certificate that expires soon, and returns the configuration to use.
    func renewed(_ active: ActiveConfiguration, contexts: TLSContextSource) -> ActiveConfiguration {
        guard active.tls.isRenewalDue else { return active }
        do throws(ConfigurationErrors) {
            let tls = try active.tls.renewed(active.configuration.server, files: files)
            contexts.replace(with: tls.context)
            logger.notice("the development certificate was renewed", metadata: ["file": "\(tls.certificate.file)"])
            return ActiveConfiguration(configuration: active.configuration, tls: tls)
        } catch {
            for reason in Self.reasons(error) {
                logger.error("the development certificate cannot be renewed: \(reason)")
            }
            return active
        }
    }

    /// Logs the certificates that have expired or expire soon, and sets their metrics.
    func reportCertificates(_ active: ActiveConfiguration) {
        let certificates = ExpiringCertificates(active.configuration, files: files)
        for warning in certificates.warnings(at: .system) { logger.warning("\(warning.logLine)") }
        metrics?.setCertificateExpiry(active.tls.firstExpiry, byFile: certificates.expiryByFile)
    }
}
