// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TLSTesting

/// The domain of the servers of Samba, and how it is made.
enum SambaDomain {
    static let tool = "/usr/bin/samba-tool"
    static let python = "/usr/bin/python3"

    /// The name of the domain controller.
    static let host = "dc1.example.org"

    /// The environment of the server and of its tools: they do not wait until changes are on the disk.
    static let environment = ["PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TDB_NO_FSYNC": "1"]

    /// The settings while the domain is made.
    private static var quiet: SambaServer.Settings {
        var settings = SambaServer.Settings()
        settings.lines = ["log level = 0"]
        return settings
    }

    /// The folder of the domain, which no server changes.
    static let shared = Task {
        let folder = try PrivateFolder()
        try await provision(in: folder)
        let server = try await SambaServer(quiet, in: folder)
        try await server.modify(ldif: SambaServer.ldif)
        try await setPrimaryGroup(of: SambaServer.paul, to: SambaServer.group("Accountants"), on: server)
        for _ in 0..<SambaServer.maximumFailures { try await fail(SambaServer.lara, on: server) }
        await server.stop()
        try await expirePassword(of: SambaServer.peggy, in: folder)
        return folder
    }

    private static func provision(in folder: PrivateFolder) async throws {
        let address = "127.0.0.1"
        try folder.write(configuration(quiet, address: address, in: folder), to: "smb.conf")
        for name in ["cache", "lock", "run"] { try folder.folder(name) }
        let options = [
            "configfile": folder.file("smb.conf"), "realm": "EXAMPLE.ORG", "domain": "EXAMPLE", "server-role": "dc",
            "dns-backend": "NONE", "backend-store": "tdb", "host-name": "dc1", "host-ip": address,
            "adminpass": SambaServer.admin.password,
        ]
        try await run([tool, "domain", "provision", "--use-rfc2307"] + options.map { "--\($0)=\($1)" })
    }

    /// The user must be a member of the group.
    private static func setPrimaryGroup(of person: Person, to group: String, on server: SambaServer) async throws {
        let admin = SambaServer.admin
        let found = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-LLL", "-H", server.tlsURL, "-D", admin.name, "-w", admin.password]
                + ["-b", group, "-s", "base", "primaryGroupToken"]
        )
        let line = found.output.split(separator: "\n").first { $0.hasPrefix("primaryGroupToken: ") }
        guard let token = line?.split(separator: " ").last else { throw NotReached("\(group): \(found.errors)") }
        try await server.modify(
            ldif: "dn: \(person.name)\nchangetype: modify\nreplace: primaryGroupID\nprimaryGroupID: \(token)\n"
        )
    }

    private static func fail(_ person: Person, on server: SambaServer) async throws {
        _ = try await DirectoryTool.run(
            "ldapsearch",
            ["-x", "-H", server.tlsURL, "-D", person.name, "-w", "wrong", "-b", "", "-s", "base"]
        )
    }

    /// The server itself never sets this time to the past, so the database is changed.
    private static func expirePassword(of person: Person, in folder: PrivateFolder) async throws {
        let script = """
            from sys import argv
            from ldb import Dn, FLAG_MOD_REPLACE, Message, MessageElement
            from samba import dsdb
            from samba.auth import system_session
            from samba.param import LoadParm
            from samba.samdb import SamDB
            settings = LoadParm()
            settings.load(argv[1])
            database = SamDB(url=settings.private_path("sam.ldb"), session_info=system_session(), lp=settings)
            change = Message(Dn(database, argv[2]))
            change["pwdLastSet"] = MessageElement("132000000000000000", FLAG_MOD_REPLACE, "pwdLastSet")
            database.modify(change, ["local_oid:%s:0" % dsdb.DSDB_CONTROL_BYPASS_PASSWORD_HASH_OID])

            """
        try await run([python, "-c", script, folder.file("smb.conf"), person.name])
    }

    private static func run(_ command: [String]) async throws {
        let finished = try await DirectoryTool.run(command, environment: environment)
        guard finished.status == 0 else {
            throw NotReached("\(command[0]): \(finished.output) \(finished.errors)")
        }
    }

    /// Returns the text of smb.conf.
    static func configuration(
        _ settings: SambaServer.Settings,
        address: String,
        in folder: PrivateFolder
    ) throws -> String {
        """
        [global]
        netbios name = DC1
        realm = EXAMPLE.ORG
        workgroup = EXAMPLE
        server role = active directory domain controller
        server services = ldap
        dcerpc endpoint servers =
        interfaces = \(address)/8
        bind interfaces only = yes
        ldap server require strong auth = \(settings.requiresEncryption ? "yes" : "no")
        old password allowed period = \(settings.minutesOfOldPassword)
        tls keyfile = \(folder.file("tls.key"))
        tls certfile = \(folder.file("tls-chain.pem"))
        tls cafile = \(try TestPKI.shared.get().file("root.pem").path)
        private dir = \(folder.file("private"))
        state directory = \(folder.file("state"))
        cache directory = \(folder.file("cache"))
        lock directory = \(folder.file("lock"))
        pid directory = \(folder.file("run"))
        ncalrpc dir = \(folder.file("run/ncalrpc"))
        winbindd socket directory = \(folder.file("run/winbindd"))
        ntp signd socket directory = \(folder.file("run/ntp_signd"))
        binddns dir = \(folder.file("bind-dns"))
        usershare path =
        load printers = no
        log level = 5
        vfs objects = dfs_samba4 acl_xattr xattr_tdb
        xattr_tdb:file = \(folder.file("state/xattr.tdb"))
        posix:eadb = \(folder.file("private/eadb.tdb"))
        \(settings.lines.joined(separator: "\n"))
        [sysvol]
        path = \(folder.file("state/sysvol"))
        read only = no
        [netlogon]
        path = \(folder.file("state/sysvol/example.org/scripts"))
        read only = no

        """
    }
}
