// SPDX-License-Identifier: Apache-2.0

internal import Foundation
internal import TLSTesting

/// The exit status and the output of a command.
package struct Finished: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
}

/// The commands of the package ldap-utils.
package enum DirectoryTool {
    /// True if the commands are installed.
    package static let arePossible = ["ldapadd", "ldapmodify", "ldapsearch", "ldapwhoami", "ldappasswd"].allSatisfy {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    /// Runs a command that trusts the root certificate of TestPKI.
    ///
    /// - Parameters:
    ///   - name: The name of the command.
    ///   - arguments: Its arguments.
    ///   - input: The text that it reads.
    ///   - certificate: The name of the client certificate in TestPKI; nil for none.
    /// - Returns: Its exit status and its output.
    /// - Throws: An error if the command cannot be started.
    package static func run(
        _ name: String,
        _ arguments: [String],
        input: String = "",
        certificate: String? = nil
    ) async throws -> Finished {
        let pki = try TestPKI.shared.get()
        // No settings of the user or of the machine.
        var environment = ["LDAPCONF": "/dev/null", "LDAPRC": "none", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]
        environment["LDAPTLS_CACERT"] = pki.file("root.pem").path
        if let certificate {
            environment["LDAPTLS_CERT"] = pki.file("\(certificate)-chain.pem").path
            environment["LDAPTLS_KEY"] = pki.file("\(certificate).key").path
        }
        return try await run(["/usr/bin/\(name)"] + arguments, input: input, environment: environment)
    }

    /// Runs a program whose path is the first element of `command`.
    static func run(
        _ command: [String],
        input: String = "",
        environment: [String: String] = [:]
    ) async throws -> Finished {
        let folder = try PrivateFolder()
        let surroundings = ChildProcess.Surroundings(
            input: try folder.write(input, to: "input"),
            output: folder.file("output"),
            errors: folder.file("errors"),
            environment: environment
        )
        let child = try await ChildProcess.start(command, in: surroundings)
        let status = await child.end()
        return Finished(status: status, output: folder.text("output"), errors: folder.text("errors"))
    }
}
