// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import Bytes
internal import ConfiguredTLS
internal import Logging
public import LoginConf
internal import OpenSSLKit
internal import RealmConfiguration
internal import RealmKit
internal import SignIn
internal import Synchronization

extension Realms {
    /// Reads realms.conf and the files of its certificates again, and uses them for the next requests.
    ///
    /// Sessions of realms and users that are gone end, and cached credentials are checked again. New
    /// connections get the new certificates. If the old or the new configuration requests certificates of
    /// clients, open connections are closed after their open requests. Changes of `listen` and `throttle`, and
    /// of `time` and `waiting` of `sign-in`, need a restart; a line of the log names them.
    ///
    /// Reloads run one after the other, and are not cancelled with their caller.
    ///
    /// - Throws: `ConfigurationErrors` if the configuration has errors, if its state folder is another one, or
    ///   if it has no realm or role that a route of the program names. Then the present configuration stays in
    ///   use.
    public func reload() async throws(ConfigurationErrors) {
        try await reloads.run { () throws(ConfigurationErrors) in try await self.reloadNow() }
    }

    private func reloadNow() async throws(ConfigurationErrors) {
        let configuration = try load()
        let server = configuration.server
        guard server.stateFolder.value == settings.stateFolder.value else {
            throw server.stateFolder.errors("the state folder cannot be changed while the program runs")
        }
        try requireNamesInCode(of: configuration)
        let tls = tls.withLock { $0 }
        let newTLS = try tls?.current.reloaded(server, files: files)
        await RealmRefresher.runFirstChecks(configuration.realms)
        let next: RealmAccess
        do throws(OpenSSLError) {
            next = try RealmAccess(configuration, service: service, isReload: true)
        } catch {
            throw server.stateFolder.errors("no random bytes can be generated: \(error)")
        }
        service.countReload(to: configuration.authenticator)
        let before = current.withLock { access in
            defer { access = next }
            return access.configuration.server
        }
        if let newTLS {
            // The client certificates of open connections were verified by the old configuration.
            let isRetiring = [before, server].contains { $0.tls.clientCertificates != .none }
            tls?.replace(with: newTLS, retiringConnections: isRetiring)
        }
        await service.recheck(configuration)
        for warning in configuration.warnings { logger.warning("\(warning.logLine)") }
        if let newTLS { logWarnings(of: newTLS, for: configuration) }
        for name in SignInService.changesThatNeedRestart(from: settings, to: server) {
            logger.warning("\(name) has changed; the change needs a restart")
        }
        logger.notice("the configuration was reloaded")
    }

    /// Throws if a configuration does not have a realm or a role that a route names: nobody could use the route.
    private func requireNamesInCode(of configuration: Configuration) throws(ConfigurationErrors) {
        let names = namesInCode.withLock { $0 }
        let realm = names.realms.first { (try? configuration.authenticator.realm($0.string)) == nil }
        let role = names.roles.first { configuration.role($0.string) == nil }
        guard let missing = realm.map({ "realm \($0.string)" }) ?? role.map({ "role \($0.string)" }) else { return }
        let text = SourceText(name: configuration.file, bytes: [])
        throw ConfigurationErrors("the \(missing) is missing, which a route of the program names", at: .none, in: text)
    }

    // MARK: TLS

    /// Returns the TLS of the application, which is loaded by the first call.
    func loadTLS() throws(ConfigurationErrors) -> ApplicationTLS {
        try tls.withLock { tls throws(ConfigurationErrors) -> ApplicationTLS in
            if let tls { return tls }
            let configuration = configuration
            let loaded = try ServerTLS.load(
                configuration.server,
                files: files,
                clock: .system,
                applicationProtocols: ["http/1.1"]
            )
            logWarnings(of: loaded, for: configuration)
            let made = ApplicationTLS(loaded)
            tls = made
            return made
        }
    }

    private func logWarnings(of tls: ServerTLS, for configuration: Configuration) {
        let expiring = ExpiringCertificates(configuration, files: files).warnings(at: .system)
        for warning in expiring + tls.warnings { logger.warning("\(warning.logLine)") }
    }
}

/// A value that is made once for each configuration.
final class PerConfiguration<Value: Sendable>: Sendable {
    private let make: @Sendable (RealmAccess) -> Value
    private let latest: Mutex<(access: RealmAccess, value: Value)>

    init(_ access: RealmAccess, make: @escaping @Sendable (RealmAccess) -> Value) {
        self.make = make
        latest = Mutex((access: access, value: make(access)))
    }

    func value(in access: RealmAccess) -> Value {
        latest.withLock { latest in
            if latest.access !== access { latest = (access, make(access)) }
            return latest.value
        }
    }
}

extension Configuration {
    /// Returns the role of a name; nil if there is none.
    func role(_ name: String) -> Role? { roles.first { $0.name.utf8.elementsEqual(name.utf8) } }
}
