// SPDX-License-Identifier: Apache-2.0

package import ArgumentParser
internal import CommandSupport

/// The arguments of `authcheck`.
///
/// A password cannot be an argument, because every user of a machine can read the arguments of processes.
package struct AuthcheckOptions: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "authcheck",
        abstract: "Test whether a realm accepts a user.",
        usage: """
            authcheck [--config <file>] [--password-stdin] [--why-not] [--trace] [--json] [--quiet] <realm> <user>
            authcheck --certificate <file> [--config <file>] [--why-not] [--trace] [--json] [--quiet] <realm> [<user>]
            authcheck --answers <answers> [--config <file>] [--json] <realm> <user>
            authcheck --server <url> [--ca <file> | --pin <pin>] [--password-stdin] [--json] <realm> <user>
            authcheck --server <url> [--ca <file> | --pin <pin>] --list
            """,
        discussion: """
            If a module of the realm needs a password, the command prompts for it on the terminal.

            With --certificate, the client certificate of a file is part of the login, as in a TLS connection of the
            server in the configuration. Without <user>, the realm takes the user name from the certificate.

            With --answers, no module is called: each gives the answer in a list such as "LDAPLoginModule=unavailable
            FileLoginModule=success", as gatehouse prove and the log write it, and otherwise wrong-credentials.

            With --server, a server with a realm API checks the credentials. --list lists its realms.

            Exit status: 0 accepted, 1 refused, 2 wrong arguments, 3 wrong configuration, 4 the realm could not decide.
            """,
        version: CommandProcess.version(of: "authcheck")
    )

    @OptionGroup var source: ConfigurationOptions
    @OptionGroup(title: "Options for a server") package var remote: RemoteOptions
    @Flag(help: "Read the password from the first line of standard input, and a one-time code from the second line.")
    package var passwordStdin = false
    @Option(
        help: ArgumentHelp(
            "A client certificate in PEM, and the intermediates after it; no key is needed.",
            valueName: "file"
        ),
        completion: .file()
    )
    var certificate: String?
    @Option(help: ArgumentHelp("The name of the service, for the modules.", valueName: "name"))
    package var service = "authcheck"
    @Flag(help: "Print which module has decided a refused login, and which answers would have granted it.")
    var whyNot = false
    @Flag(help: "Print every call of a module and its outcome.") var trace = false
    @Option(help: ArgumentHelp("Take these answers instead of calling the modules.", valueName: "answers"))
    var answers: String?
    @Flag(help: "Print the result as JSON.") package var json = false
    @Flag(help: "Print nothing; the exit status is the result.") package var quiet = false
    @Argument(help: "The realm.") package var realm: String?
    @Argument(help: "The name of the user.") package var user: String?

    package init() {}

    package func validate() throws {
        guard remote.server == nil else {
            let local: [(String, Bool)] = [
                ("--trace", trace), ("--why-not", whyNot), ("--answers", answers != nil),
                ("--certificate", certificate != nil),
            ]
            if let option = local.first(where: \.1)?.0 {
                throw ValidationError("\(option) cannot be combined with --server")
            }
            if source.config != nil || !source.property.isEmpty {
                throw ValidationError("--config and -D cannot be combined with --server")
            }
            if remote.list, realm != nil { throw ValidationError("--list takes no realm and no user") }
            return
        }
        // A script that asks about a real login must not get an answer without one, whatever the name of the user is.
        if answers != nil, passwordStdin || certificate != nil || quiet {
            throw ValidationError("--answers cannot be combined with --password-stdin, --certificate and --quiet")
        }
        guard realm != nil else { throw ValidationError("Missing expected argument '<realm>'") }
        guard user != nil || certificate != nil else { throw ValidationError("Missing expected argument '<user>'") }
    }
}

package struct RemoteOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Ask a server with a realm API, instead of the realms of a configuration.", valueName: "url")
    )
    package var server: String?
    @Option(
        help: ArgumentHelp("The authorities that are trusted to name the server, in PEM.", valueName: "file"),
        completion: .file()
    )
    package var ca: String?
    @Option(
        help: ArgumentHelp(
            "The SHA-256 of the server's public key, as sha256//BASE64 or in hexadecimal digits.",
            valueName: "sha256"
        )
    )
    package var pin: String?
    @Option(help: ArgumentHelp("The file with the token of the realm API.", valueName: "file"), completion: .file())
    package var tokenFile: String?
    @Flag(help: "List the realms of the server.") package var list = false
    @Flag(help: "Ask for a one-time code after the password.") package var code = false
    @Flag(help: "Remember the server, its key or authorities, the user and the token file, but no password.")
    package var remember = false

    package init() {}

    package func validate() throws {
        if ca != nil, pin != nil { throw ValidationError("--ca and --pin cannot be combined") }
        guard server == nil else { return }
        let given: [(String, Bool)] = [
            ("--ca", ca != nil), ("--pin", pin != nil), ("--token-file", tokenFile != nil), ("--list", list),
            ("--code", code), ("--remember", remember),
        ]
        if let option = given.first(where: \.1)?.0 { throw ValidationError("\(option) needs --server") }
    }
}
