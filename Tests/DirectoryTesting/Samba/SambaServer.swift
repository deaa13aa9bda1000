// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TLSTesting
internal import TestTools

/// A domain controller of Active Directory (Samba) on an address of the loopback interface of its own.
///
/// It serves only LDAP, on the standard ports, which need the rights of root. Its files are in a temporary folder. It is
/// killed when this object is deinitialized, and when this process ends.
///
/// The domain takes seconds to make, so it is made once per process; each server has a copy.
package final class SambaServer: DirectoryServer {
    /// The settings of a server.
    package struct Settings: Sendable {
        /// True if the server rejects passwords on connections without TLS, as Samba does by default.
        package var requiresEncryption = false
        /// The time in minutes for which the server accepts the previous password after a change.
        ///
        /// The default of Samba is 60.
        package var minutesOfOldPassword = 0
        /// Lines that are added to the general part of smb.conf.
        package var lines: [String] = []

        package init() {}
    }

    /// The reason why no server can be started here; nil if one can be started.
    package static let unavailable: String? = {
        for path in [program, SambaDomain.tool, SambaDomain.python]
        where !FileManager.default.isExecutableFile(atPath: path) {
            return "needs the packages samba, samba-ad-dc and samba-ad-provision"
        }
        guard FileManager.default.fileExists(atPath: "/usr/share/samba/setup/provision.ldif") else {
            return "needs the package samba-ad-provision"
        }
        guard DirectoryTool.arePossible else { return "needs the package ldap-utils" }
        guard ChildProcess.isPossible else { return "needs setpriv of util-linux" }
        guard TestPKI.isPossible else { return "needs openssl" }
        return geteuid() == 0 ? nil : "needs root, for the ports of LDAP"
    }()

    /// The server that tests share if they change nothing.
    ///
    /// - Returns: The same server in each call.
    /// - Throws: ``NotReached`` if the server does not start, and errors of the file system.
    package static func shared() async throws -> SambaServer { try await sharedServer.value }

    private static let sharedServer = Task { try await SambaServer() }
    private static let program = "/usr/sbin/samba"

    /// The address of the server.
    package let address: String
    /// The folder of the server's files.
    package let folder: PrivateFolder
    /// The process of the server.
    package let process: ServerProcess

    /// The URL of LDAP.
    package var url: String { "ldap://\(address)" }
    /// The URL of LDAP over TLS.
    package var tlsURL: String { "ldaps://\(address)" }
    /// The URL of the global catalog.
    package var globalCatalogURL: String { "ldap://\(address):3268" }
    /// The URL at which entries are added and modified.
    package var adminURL: String { tlsURL }

    /// Starts a server.
    ///
    /// - Throws: ``NotReached`` if the server does not start, and errors of the file system.
    package convenience init(_ settings: Settings = Settings()) async throws {
        let domain = try await SambaDomain.shared.value
        let folder = try PrivateFolder()
        // FileManager cannot copy the sockets of an ended server.
        let copied = try await DirectoryTool.run(
            ["/bin/cp", "-a", domain.file("private"), domain.file("state"), folder.path]
        )
        guard copied.status == 0 else { throw NotReached("cp: \(copied.errors)") }
        try await self.init(settings, in: folder)
    }

    /// Starts a server with the domain that is in a folder.
    init(_ settings: Settings, in folder: PrivateFolder) async throws {
        let ports = [389, 636, 3268, 3269]
        let address = try LoopbackPort.freeAddress(with: ports)
        self.address = address
        self.folder = folder
        try folder.write(SambaDomain.configuration(settings, address: address, in: folder), to: "smb.conf")
        try await Self.writeCertificate(for: address, in: folder)
        process = ServerProcess(
            [Self.program, "--foreground", "--model=single", "--no-process-group", "--debug-stdout"]
                + ["--configfile=\(folder.file("smb.conf"))"],
            host: address,
            ports: ports,
            folder: folder,
            environment: SambaDomain.environment
        )
        try await start()
    }

    /// Writes a certificate for the address, signed by the intermediate of TestPKI.
    private static func writeCertificate(for address: String, in folder: PrivateFolder) async throws {
        let pki = try TestPKI.shared.get()
        let command = [
            TestPKI.openssl, "req", "-x509", "-config", pki.file("ca.cnf").path, "-days", "30", "-nodes",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-subj", "/CN=\(SambaDomain.host)",
            "-CA", pki.file("inter.pem").path, "-CAkey", pki.file("inter.key").path,
            "-addext", "subjectAltName=DNS:\(SambaDomain.host),DNS:localhost,IP:\(address)",
            "-addext", "extendedKeyUsage=serverAuth", "-addext", "basicConstraints=critical,CA:FALSE",
            "-keyout", folder.file("tls.key"), "-out", folder.file("tls.pem"),
        ]
        let environment = ["PKI": pki.folder.path, "NAMES": "DNS:localhost"]
        let finished = try await DirectoryTool.run(command, environment: environment)
        guard finished.status == 0 else { throw NotReached("openssl: \(finished.errors)") }
        let intermediate = try String(contentsOf: pki.file("inter.pem"), encoding: .utf8)
        try folder.write(folder.text("tls.pem") + intermediate, to: "tls-chain.pem")
    }
}
