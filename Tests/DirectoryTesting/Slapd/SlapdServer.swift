// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TLSTesting
internal import TestTools

/// An OpenLDAP server (slapd) on two ports of the loopback interface, with the users of ``allPeople``.
///
/// Its files are in a temporary folder. It is killed when this object is deinitialized, and when this process ends.
package final class SlapdServer: DirectoryServer {
    /// The server's part in replication.
    package enum Role: Sendable {
        case alone
        case provider
        /// A copy that the provider at this URL keeps in sync.
        case replica(of: String)
    }

    /// The settings of a server.
    package struct Settings: Sendable {
        /// The name of the server's certificate in TestPKI.
        package var certificate = "server"
        /// Lines that are added to the general part of slapd.conf, such as `disallow bind_anon`.
        package var lines: [String] = []
        /// Lines that are added to the part of the database, such as `limits` or `sizelimit 2`.
        package var databaseLines: [String] = []
        /// Access rules before those of the server.
        package var accessLines: [String] = []
        package var role = Role.alone
        /// Entries in LDIF that are loaded before the start, besides those of all servers.
        package var entries = ""
        /// The maximum size of the database, in bytes.
        package var maximumSize = 8_388_608

        package init() {}
    }

    /// The reason why no server can be started here; nil if one can be started.
    package static let unavailable: String? = {
        for path in [program, loader] where !FileManager.default.isExecutableFile(atPath: path) {
            return "needs the package slapd"
        }
        guard DirectoryTool.arePossible else { return "needs the package ldap-utils" }
        guard ChildProcess.isPossible else { return "needs setpriv of util-linux" }
        return TestPKI.isPossible ? nil : "needs openssl"
    }()

    private static let program = "/usr/sbin/slapd"
    private static let loader = "/usr/sbin/slapadd"

    /// The port of LDAP, where StartTLS is possible.
    package let port: Int
    /// The port of LDAP over TLS.
    package let tlsPort: Int
    /// The folder of the server's files.
    package let folder: PrivateFolder
    /// The process of the server.
    package let process: ServerProcess

    /// The URL of LDAP.
    package var url: String { "ldap://127.0.0.1:\(port)" }
    /// The URL of LDAP over TLS.
    package var tlsURL: String { "ldaps://127.0.0.1:\(tlsPort)" }
    /// The URL at which entries are added and modified.
    package var adminURL: String { url }

    /// Starts a server.
    ///
    /// - Throws: ``NotReached`` if the server does not start, and errors of the file system.
    package init(_ settings: Settings = Settings()) async throws {
        port = try LoopbackPort.free()
        tlsPort = try LoopbackPort.free()
        folder = try PrivateFolder()
        try folder.write(Self.configuration(settings, in: folder), to: "slapd.conf")
        try FileManager.default.copyItem(atPath: await Self.loaded.value.file("data"), toPath: folder.file("data"))
        if !settings.entries.isEmpty { try await Self.load(settings.entries, in: folder) }
        process = ServerProcess(
            [Self.program, "-f", folder.file("slapd.conf"), "-d", "stats"]
                + ["-h", "ldap://127.0.0.1:\(port) ldaps://127.0.0.1:\(tlsPort)"],
            host: "127.0.0.1",
            ports: [port, tlsPort],
            folder: folder
        )
        try await start()
    }

    /// A folder with the loaded entries.
    ///
    /// They are loaded once per process. All servers have the same entries, so a replica needs none from its provider.
    private static let loaded = Task {
        let folder = try PrivateFolder()
        try folder.folder("data")
        try folder.write(configuration(Settings(), in: folder), to: "slapd.conf")
        try await load(ldif, in: folder)
        return folder
    }

    private static func load(_ ldif: String, in folder: PrivateFolder) async throws {
        try folder.write(ldif, to: "entries.ldif")
        let child = try await ChildProcess.start(
            [loader, "-q", "-w", "-f", folder.file("slapd.conf"), "-l", folder.file("entries.ldif")],
            in: ChildProcess.Surroundings(output: folder.file("slapadd.log"), errors: folder.file("slapadd.log"))
        )
        guard await child.end() == 0 else { throw NotReached("slapadd: \(folder.text("slapadd.log"))") }
    }
}
