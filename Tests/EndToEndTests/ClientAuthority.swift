// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A certificate authority for clients, made by the `openssl` command in a folder of its own.
struct ClientAuthority {
    static let openssl = Program.system("openssl")

    let folder: TemporaryFolder

    struct Failed: Error {
        let output: String
    }

    /// Makes the authority `CN=Town CA,O=Town`.
    init() async throws {
        folder = try TemporaryFolder()
        try folder.write("", to: "index")
        try folder.write("unique_subject = no\n", to: "index.attr")
        try folder.write(Self.settings, to: "ca.cnf")
        try await makeAuthority("ca", subject: "/O=Town/CN=Town CA")
    }

    private static let settings = """
        [ca]
        default_ca = town
        [town]
        database = index
        new_certs_dir = .
        rand_serial = yes
        default_md = sha256
        default_days = 2
        policy = any
        preserve = yes
        unique_subject = no
        [any]
        countryName = optional
        organizationName = optional
        organizationalUnitName = optional
        commonName = optional
        [req]
        distinguished_name = name
        [name]

        """

    func path(_ name: String) -> String { folder.url.appendingPathComponent(name).path }

    /// The options of curl that send a certificate.
    func options(_ name: String) -> [String] { ["--cert", path("\(name).pem"), "--key", path("\(name).key")] }

    /// Makes another authority.
    func makeAuthority(_ name: String, subject: String) async throws {
        try await run(
            ["req", "-config", "ca.cnf", "-x509", "-days", "2", "-subj", subject, "-out", "\(name).pem"]
                + ["-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign"]
                + Self.newKey(name)
        )
    }

    /// Issues a certificate.
    ///
    /// - Parameters:
    ///   - name: The name of the files.
    ///   - subject: The subject as the `openssl` command reads it.
    ///   - names: The subjectAltName.
    ///   - authority: The authority that issues the certificate.
    ///   - seconds: The lifetime; nil for two days.
    ///   - key: The arguments of `-newkey`.
    /// - Throws: The output of the command, if it fails.
    func issue(
        _ name: String,
        subject: String,
        names: String? = nil,
        by authority: String = "ca",
        lifetime seconds: Int? = nil,
        key: [String] = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    ) async throws {
        try await run(
            ["req", "-config", "ca.cnf", "-subj", subject, "-out", "\(name).csr", "-utf8", "-newkey"] + key
                + ["-nodes", "-keyout", "\(name).key"]
        )
        var extensions = "extendedKeyUsage=clientAuth\n"
        if let names { extensions += "subjectAltName=\(names)\n" }
        try folder.write(extensions, to: "\(name).ext")
        var dates: [String] = []
        if let seconds {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(identifier: "UTC")
            formatter.dateFormat = "yyyyMMddHHmmss'Z'"
            dates = ["-enddate", formatter.string(from: Date(timeIntervalSinceNow: Double(seconds)))]
        }
        try await run(
            ["ca", "-batch", "-notext", "-config", "ca.cnf", "-in", "\(name).csr", "-out", "\(name).pem"]
                + ["-cert", "\(authority).pem", "-keyfile", "\(authority).key", "-extfile", "\(name).ext"] + dates
        )
    }

    private static func newKey(_ name: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "\(name).key"]
    }

    func run(_ arguments: [String]) async throws {
        guard let openssl = Self.openssl else { throw Failed(output: "openssl is not installed") }
        let finished = try await Program.run(openssl, arguments, in: folder.url)
        guard finished.status == 0 else { throw Failed(output: finished.errors) }
    }
}
