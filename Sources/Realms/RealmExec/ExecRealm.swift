// SPDX-License-Identifier: Apache-2.0

internal import Files
internal import HelperProcesses
package import RealmKit
internal import Workers

/// A realm whose users are checked by a helper program, in any language.
///
/// The program follows the contract of BSD authentication: `program -s response -v service=https -v realm=NAME -- user`.
/// It reads the password from descriptor 3, and writes `authorize` or `reject` and further lines to it. In the mode
/// `lines` a process answers many requests. The program gets a clean environment and a session of its own, and it is
/// killed with all its children when its time is up. A program that crashes, hangs or answers something else makes the
/// login unavailable.
///
/// Properties: `jaas-context` (`execRealm`), `program`, `arguments`, `service-name`, `mode` (`once`), `timeout` (`10s`),
/// `user`, `memory` (256, in MiB), `allow-setuid` (`false`), `processes` (8), `queue` (128), `when-full` (`refuse`),
/// `requests-per-process` (1000), `idle-time` (`60s`). See docs/realms/exec.md. It may be used from any thread.
package struct ExecRealm: Realm {
    /// True, because a helper program may ask any system.
    package static let dependsOnOtherSystems = true

    package static let properties: PropertySchema =
        [
            .jaasContext(default: "execRealm"),
            .required("program", .path).naming(.program),
            .optional("arguments", .list),
            .optional("service-name"),
            Property("mode", .choice(["once", "lines"]), default: "once"),
            Property("timeout", .duration, default: "10s"),
            Property("allow-setuid", .boolean, default: "false"),
            Property("processes", .integer(1...1024), default: "8"),
            Property("requests-per-process", .integer(1...1_000_000), default: "1000"),
        ] + HelperPoolSettings.properties

    package let jaasContext: String
    let helpers: ExecHelpers
    let outages: OutageLog
    /// The service that the program is told; nil for the service of the login.
    let serviceName: String?

    package var authType: String { "exec" }

    /// Checks the program; throws if it is not a regular executable file, or users other than root and the user of this
    /// program could replace it, or if `user` does not exist, or this program must not change to it.
    ///
    /// No process is started.
    package init(_ properties: RealmProperties) throws(BadRealm) {
        jaasContext = try properties.jaasContext
        serviceName = try properties.optional("service-name")
        let log = properties.services[RealmLog.self]
        let path = try properties.string("program")
        let trusted = try Result { () throws(HelperFault) in try HelperProgram.trustedPath(path) }
            .mapError { BadRealm($0.log, setting: "program") }.get()
        var program = HelperProgram(trusted)
        if properties.has("arguments") { program.arguments = try properties.list("arguments") }
        let isLines = try properties.string("mode") == "lines"
        if isLines { program.arguments += ["-s", "lines"] }
        program.memory = UInt64(try properties.integer("memory")) << 20
        program.forbidsNewPrivileges = try !properties.boolean("allow-setuid")
        program.account = try Self.account(properties, program: path, log: log)
        var settings = try HelperPoolSettings(properties)
        if !isLines { settings.requestsPerProcess = 1 }
        helpers = ExecHelpers(program, settings: settings, answersLines: isLines, log: log)
        outages = OutageLog(log, realmName: properties.realmName, now: { MonotonicTime.now })
    }

    private static func account(
        _ properties: RealmProperties,
        program: String,
        log: RealmLog?
    ) throws(BadRealm) -> HelperAccount? {
        guard properties.has("user") else {
            if HelperAccount.isRoot {
                log?("realm \(properties.realmName): \(program) runs as root; set user to a user without rights")
            }
            return nil
        }
        let name = try properties.string("user")
        return try Result { () throws(HelperFault) in try HelperAccount(name) }
            .mapError { BadRealm($0.log, setting: "user") }.get()
    }
}
