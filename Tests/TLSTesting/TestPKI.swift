// SPDX-License-Identifier: Apache-2.0

public import Foundation
public import OpenSSLKit

/// A certificate authority with an intermediate, and valid and invalid certificates.
///
/// The `openssl` command makes the files once per process. A certificate `name` has the files `name.pem`, `name.key`, and
/// `name-chain.pem`, which also contains the intermediate.
public struct TestPKI: Sendable {
    /// The PKI of this process, or the error that prevented its creation.
    public static let shared = Result { try TestPKI() }

    /// True if the `openssl` command is installed.
    public static let isPossible = FileManager.default.isExecutableFile(atPath: openssl)

    /// The path of the `openssl` command.
    public static let openssl = "/usr/bin/openssl"

    /// The folder of the files.
    ///
    /// The folder is removed when the process exits.
    public let folder: URL

    /// The failure of a command.
    public struct Fault: Error, CustomStringConvertible {
        /// The command and its output.
        public let description: String
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-pki-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        Self.removeAtExit(folder)
        for authority in ["root", "inter", "strange"] {
            try write("", to: "\(authority).index")
            try write("unique_subject = no\n", to: "\(authority).index.attr")
            try write("01\n", to: "\(authority).crlnumber")
        }
        try write(Self.settings, to: "ca.cnf")
        try selfSign("root")
        try selfSign("strange")
        try make("inter", by: "root", as: "authority")
        try make("server", by: "inter", as: "server", names: "DNS:localhost,IP:127.0.0.1")
        try make("other", by: "inter", as: "server", names: "DNS:other.test,DNS:*.wild.test")
        try make("client", by: "inter", as: "client")
        try make("clientonly", by: "inter", as: "client", names: "DNS:localhost,IP:127.0.0.1")
        try make("direct", by: "root", as: "client")
        try make("revoked", by: "inter", as: "client")
        try make("wronguse", by: "inter", as: "server", names: "DNS:client.test")
        try make(
            "expired",
            by: "inter",
            as: "client",
            dates: ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"]
        )
        try make(
            "future",
            by: "inter",
            as: "client",
            dates: ["-startdate", "20900101000000Z", "-enddate", "20910101000000Z"]
        )
        try make("stranger", by: "strange", as: "client")
        try make(
            "expiredserver",
            by: "inter",
            as: "server",
            names: "DNS:localhost",
            dates: ["-startdate", "20200101000000Z", "-enddate", "20200201000000Z"]
        )
        try list("inter", to: "none.crl")
        try run("ca", "-config", "ca.cnf", "-name", "inter", "-revoke", "revoked.pem")
        try list("root", to: "root.crl")
        try list("inter", to: "inter.crl")
        let past = ["-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z"]
        try list("inter", to: "old.crl", past)
        try list("strange", to: "strange.crl")
        try write(
            String(contentsOf: file("root.crl"), encoding: .utf8)
                + String(contentsOf: file("inter.crl"), encoding: .utf8),
            to: "all.crl"
        )
        try ocsp("server", to: "server.ocsp")
        try ocsp("other", to: "other.ocsp")
        try ocsp("revoked", to: "revoked.ocsp")
    }

    private static let settings = """
        [root]
        certificate = $ENV::PKI/root.pem
        private_key = $ENV::PKI/root.key
        database = $ENV::PKI/root.index
        crlnumber = $ENV::PKI/root.crlnumber
        new_certs_dir = $ENV::PKI
        rand_serial = yes
        default_md = sha256
        default_days = 30
        default_crl_days = 30
        policy = any
        [inter]
        certificate = $ENV::PKI/inter.pem
        private_key = $ENV::PKI/inter.key
        database = $ENV::PKI/inter.index
        crlnumber = $ENV::PKI/inter.crlnumber
        new_certs_dir = $ENV::PKI
        rand_serial = yes
        default_md = sha256
        default_days = 30
        default_crl_days = 30
        policy = any
        [strange]
        certificate = $ENV::PKI/strange.pem
        private_key = $ENV::PKI/strange.key
        database = $ENV::PKI/strange.index
        crlnumber = $ENV::PKI/strange.crlnumber
        new_certs_dir = $ENV::PKI
        rand_serial = yes
        default_md = sha256
        default_days = 30
        default_crl_days = 30
        policy = any
        [any]
        commonName = supplied
        [req]
        distinguished_name = name
        [name]
        [authority]
        basicConstraints = critical,CA:TRUE
        keyUsage = critical,keyCertSign,cRLSign
        subjectKeyIdentifier = hash
        [server]
        basicConstraints = critical,CA:FALSE
        extendedKeyUsage = serverAuth
        subjectAltName = $ENV::NAMES
        [client]
        basicConstraints = critical,CA:FALSE
        extendedKeyUsage = clientAuth
        subjectAltName = $ENV::NAMES

        """

    private func selfSign(_ name: String) throws {
        try run(
            "req",
            "-config",
            "ca.cnf",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-days",
            "30",
            "-subj",
            "/CN=\(name)",
            "-extensions",
            "authority",
            "-keyout",
            "\(name).key",
            "-out",
            "\(name).pem"
        )
        try write(String(contentsOf: file("\(name).pem"), encoding: .utf8), to: "\(name)-chain.pem")
    }

    private func make(
        _ name: String,
        by authority: String,
        as kind: String,
        names: String? = nil,
        dates: [String] = []
    ) throws {
        try run(
            "req",
            "-config",
            "ca.cnf",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:P-256",
            "-nodes",
            "-subj",
            "/CN=\(name)",
            "-keyout",
            "\(name).key",
            "-out",
            "\(name).csr"
        )
        try run(
            [
                "ca", "-batch", "-notext", "-config", "ca.cnf", "-name", authority, "-in", "\(name).csr", "-out",
                "\(name).pem",
            ]
                + ["-extensions", kind] + dates,
            names: names ?? "DNS:\(name).test"
        )
        let leaf = try String(contentsOf: file("\(name).pem"), encoding: .utf8)
        let rest = authority == "inter" ? try String(contentsOf: file("inter.pem"), encoding: .utf8) : ""
        try write(leaf + rest, to: "\(name)-chain.pem")
    }

    private func list(_ authority: String, to name: String, _ dates: [String] = []) throws {
        try run(["ca", "-config", "ca.cnf", "-name", authority, "-gencrl", "-out", name] + dates)
    }

    private func ocsp(_ name: String, to out: String) throws {
        try run("ocsp", "-issuer", "inter.pem", "-cert", "\(name).pem", "-no_nonce", "-reqout", "\(name).request")
        try run(
            "ocsp",
            "-index",
            "inter.index",
            "-rsigner",
            "inter.pem",
            "-rkey",
            "inter.key",
            "-CA",
            "inter.pem",
            "-reqin",
            "\(name).request",
            "-ndays",
            "7",
            "-respout",
            out
        )
    }

    private func run(_ arguments: String..., names: String = "DNS:localhost") throws {
        try run(arguments, names: names)
    }

    private func run(_ arguments: [String], names: String = "DNS:localhost") throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.openssl)
        process.arguments = arguments
        process.currentDirectoryURL = folder
        process.environment = ["PKI": folder.path, "NAMES": names, "OPENSSL_CONF": "/dev/null"]
        let pipe = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        process.standardError = pipe
        try process.run()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw Fault(description: "openssl \(arguments.joined(separator: " ")): \(output)")
        }
    }

    private func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: file(name))
    }

    private static func removeAtExit(_ folder: URL) {
        unsafe Folders.paths.append(folder.path)
        atexit { for path in unsafe Folders.paths { try? FileManager.default.removeItem(atPath: path) } }
    }

    /// Returns the URL of a file.
    public func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

    /// Returns the bytes of a file.
    public func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: file(name))) }

    /// Returns the certificates of a file.
    public func certificates(_ name: String) throws -> [Certificate] {
        try Certificate.chain(pem: bytes("\(name).pem"), name: name)
    }

    /// Returns a certificate with its intermediate and key.
    public func identity(_ name: String, ocsp: String? = nil) throws -> TLSIdentity {
        let chain = try certificates("\(name)-chain")
        let key = try PrivateKey(pem: bytes("\(name).key"), name: name)
        let response = try ocsp.map { try OCSPResponse(der: bytes($0), for: chain[0], name: $0) }
        return try TLSIdentity(certificateChain: chain, privateKey: key, ocspResponse: response)
    }

    /// Returns the revocation lists of files.
    public func lists(_ names: String...) throws -> [RevocationList] {
        try names.flatMap { try RevocationList.lists(pem: bytes($0), name: $0) }
    }

    /// Returns the configuration of a client that trusts the root.
    public func client(_ identity: String? = nil) throws -> TLSConfiguration {
        try .client(trusting: .authorities(certificates("root")), identity: identity.map { try self.identity($0) })
    }
}

private enum Folders {
    // Written once, by the initializer of a static property, and read when the process exits.
    nonisolated(unsafe) static var paths: [String] = []
}

extension TestPKI {
    /// Computes the SHA-256 digest of a certificate's public key with the `openssl` command.
    ///
    /// - Parameter name: The name of the certificate.
    /// - Returns: The digest in hexadecimal digits.
    /// - Throws: An error if the command fails.
    public func publicKeyDigest(_ name: String) throws -> String {
        try run("x509", "-in", "\(name).pem", "-noout", "-pubkey", "-out", "\(name).pub")
        try run("pkey", "-pubin", "-in", "\(name).pub", "-outform", "DER", "-out", "\(name).der")
        try run("dgst", "-sha256", "-hex", "-r", "-out", "\(name).sha256", "\(name).der")
        let line = String(decoding: try bytes("\(name).sha256"), as: UTF8.self)
        return String(line.prefix { $0 != " " })
    }
}

extension TestPKI {
    /// A list with a deltaCRLIndicator (RFC 5280 5.2.4), as NIST PKITS 4.15 and Active Directory have them.
    public static let deltaList = """
        -----BEGIN X509 CRL-----
        MIG0MFsCAQEwCgYIKoZIzj0EAwIwDTELMAkGA1UEAwwCQ0EXDTI2MTEyNzA1Mzkx
        N1oXDTI2MTIyNzA1MzkxN1qgHTAbMA0GA1UdGwEB/wQDAgEBMAoGA1UdFAQDAgEB
        MAoGCCqGSM49BAMCA0kAMEYCIQDgww2peM7vxUysMTjgE6F1rg6mB48lv6/APVov
        EKU78QIhAOpIYnqbxI068VZHRN2/Ssix8NUbqtWToFOfAy98X8qw
        -----END X509 CRL-----
        """
}
