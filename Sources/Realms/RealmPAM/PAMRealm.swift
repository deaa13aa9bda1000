// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import Files
internal import Glibc
internal import HelperProcesses
package import RealmKit
internal import Workers

/// A realm whose users are authenticated by PAM, with a service file of the system.
///
/// libpam and its modules run in helper processes, never in this program. A module that crashes, hangs, exits or breaks
/// its process makes its own login unavailable and nothing else.
///
/// Properties: `jaas-context` (`pamRealm`), `service` (`gatehouse`), `confdir`, `helper`, `helpers` (8),
/// `requests-per-helper` (200), `timeout` (`20s`), `prompt-timeout` (`60s`), `memory` (256, in MiB), `user`,
/// `change-expired-password` (`true`), `queue` (128), `when-full` (`refuse`), `idle-time` (`60s`). See
/// docs/realms/pam.md. It may be used from any thread. The model is `PamRealm` of GlassFish, whose service is always
/// `sshd`.
package struct PAMRealm: Realm {
    /// With the names of GlassFish's realm, older and newer.
    package static let classNames = [
        "PAMRealm", "com.sun.enterprise.security.auth.realm.pam.PamRealm",
        "com.sun.enterprise.security.ee.authentication.glassfish.pam.PamRealm",
    ]

    package static let dependsOnOtherSystems = true

    package static let properties: PropertySchema =
        [
            .jaasContext(default: "pamRealm"),
            .string("service", default: "gatehouse"),
            // Its files choose the modules that the helpers load.
            .optional("confdir", .path).naming(.program),
            .optional("helper", .path).naming(.program),
            Property("helpers", .integer(1...256), default: "8"),
            Property("requests-per-helper", .integer(1...1_000_000), default: "200"),
            Property("timeout", .duration, default: "20s"),
            Property("prompt-timeout", .duration, default: "60s"),
            Property("change-expired-password", .boolean, default: "true"),
        ] + HelperPoolSettings.properties

    package let jaasContext: String
    let helpers: PAMHelpers
    let outages: OutageLog
    let service: String
    let folder: String?
    let promptTimeout: Duration
    let mayChangePassword: Bool

    package var authType: String { "pam" }

    /// Checks the helper program and the service; throws if the helper program is missing, the service has no file, other
    /// users could replace one of them, or `user` cannot be used.
    ///
    /// No process is started.
    package init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        service = try properties.string("service")
        folder = properties.has("confdir") ? try Self.folder(try properties.string("confdir")) : nil
        promptTimeout = try HelperPoolSettings.time("prompt-timeout", of: properties)
        mayChangePassword = try properties.boolean("change-expired-password")
        try Self.check(service, folder: folder)
        var program = try Self.program(properties)
        program.memory = UInt64(try properties.integer("memory")) << 20
        // pam_unix starts unix_chkpwd, which has rights of its own.
        program.forbidsNewPrivileges = false
        let settings = try HelperPoolSettings(
            properties,
            processes: "helpers",
            requestsPerProcess: "requests-per-helper"
        )
        let log = properties.services[RealmLog.self]
        helpers = PAMHelpers(program, settings: settings, log: log)
        outages = OutageLog(log, realmName: properties.realmName, now: { MonotonicTime.now })
    }

    private static func program(_ properties: RealmProperties) throws(BadRealm) -> HelperProgram {
        let path: String
        if properties.has("helper") {
            path = try properties.string("helper")
        } else {
            guard let installed = PAMHelpers.installedPath() else {
                throw BadRealm(
                    "gatehouse-pam-helper is not installed beside this program; install it, or set helper to its path"
                )
            }
            path = installed
        }
        let user = try properties.optional("user")
        do throws(HelperFault) {
            var program = HelperProgram(try HelperProgram.trustedPath(path))
            if let user { program.account = try HelperAccount(user) }
            return program
        } catch {
            let isAboutUser = error.code == .unusableAccount
            throw BadRealm(error.log, setting: isAboutUser ? "user" : properties.has("helper") ? "helper" : nil)
        }
    }

    /// Returns the absolute path of a folder, because the helpers run in another folder than this program.
    private static func folder(_ path: String) throws(BadRealm) -> String {
        try SystemError.mapping(FilePath.resolve(path)) { BadRealm("\(path): \($0)", setting: "confdir") }
    }

    /// Checks that the service has a file, which other users cannot change: libpam would otherwise use the service `other`.
    private static func check(_ service: String, folder: String?) throws(BadRealm) {
        let isPlain = service.utf8.allSatisfy {
            (0x61...0x7A).contains($0 | 0x20) || ASCII.isDigit($0) || "-_.".utf8.contains($0)
        }
        guard isPlain, !service.utf8.isEmpty, service.utf8.first != UInt8(ascii: ".") else {
            throw BadRealm("is the name of a PAM service: letters, digits, -, _ and .", setting: "service")
        }
        let folders = folder.map { [$0] } ?? ["/etc/pam.d", "/usr/lib/pam.d", "/usr/etc/pam.d"]
        // Without these folders the services are in /etc/pam.conf.
        guard folder != nil || folders.contains(where: { unsafe access($0, F_OK) == 0 }) else { return }
        // libpam reads the name in lower case.
        let files = folders.map { "\($0)/\(service.lowercased())" }
        guard let file = files.first(where: { unsafe access($0, F_OK) == 0 }) else {
            throw BadRealm(
                "PAM has no service \(service): there is no file \(files[0]); "
                    + "create it, as in docs/realms/pam.md, or name another service",
                setting: "service"
            )
        }
        if let finding = FileTrust.error(file, as: .program) {
            throw BadRealm(finding.message, setting: folder == nil ? "service" : "confdir", hint: finding.hint)
        }
    }

    package func groupNames(of user: Username) async throws(RealmError) -> [String] { try await find(user).groups }

    /// Returns the full name of a user of the system, as the attribute `displayName`.
    package func attributes(of user: Username) async throws(RealmError) -> [UserAttribute] {
        try await find(user).attributes
    }

    private func find(_ user: Username) async throws(RealmError) -> PAMUser {
        let found: PAMUser?
        do throws(HelperFault) { found = try await helpers.find(user) } catch { throw .temporary(error.loginFault()) }
        guard let found else { throw .noSuchUser(user) }
        return found
    }
}
