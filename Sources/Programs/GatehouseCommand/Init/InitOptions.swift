// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

extension GatehouseOptions {
    /// `gatehouse init`: a first configuration.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make a configuration, the files of a proxy, and a first user.",
            discussion: """
                On a terminal, the command asks for --protect, --users, --property, --proxy, --host, --application, \
                --folder and --user if they are missing. With --defaults, a missing option has its default, and only \
                passwords are asked for. Without a terminal, all options that have no default, or --defaults, must be \
                given. No file is overwritten, and a command that fails writes nothing. For users in a directory or a \
                database, the servers are tested at the end, as by `gatehouse realm test`; exit status 4 if a step fails.
                """
        )

        @Option(name: .long, help: ArgumentHelp("What is protected. Default: /", valueName: "path"))
        var protect: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                """
                The users: new, for users in a database of Gatehouse; pam, for those of this system; ldap or sql, for \
                those of a directory or a database; or the path of an htpasswd file or a key file of GlassFish. Default: \
                new.
                """,
                valueName: "source"
            ),
            completion: .file()
        )
        var users: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "A property of the realm, if the users are ldap or sql: directory=ldaps://ldap.example.org",
                valueName: "name=value"
            )
        )
        var property: [String] = []

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The file with the password of the account for the directory or the database.",
                valueName: "file"
            ),
            completion: .file()
        )
        var passwordFile: String?

        @Option(
            name: .long,
            help: ArgumentHelp("The proxy: none, nginx, caddy or haproxy. Default: none.", valueName: "proxy"),
            completion: .list(["none"] + ProxyFile.Proxy.allCases.map(\.rawValue))
        )
        var proxy: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The host name of an application behind the proxy; may be repeated. Default: app.example.com.",
                valueName: "name"
            )
        )
        var host: [String] = []

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The address of the application, one for each --host, in the same order. Default: 127.0.0.1:3000.",
                valueName: "address"
            )
        )
        var application: [String] = []

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The host at which users sign in once for all applications. Default: each has its own sign-in page.",
                valueName: "name"
            )
        )
        var signInHost: String?

        @Flag(
            name: .long,
            help: """
                Add applications to realms.conf of the folder. For nginx and Caddy, a file for each is made; for HAProxy, \
                only commands are printed.
                """
        )
        var add = false

        @Option(
            name: .long,
            help: ArgumentHelp("The folder for the files. Default: the current folder.", valueName: "folder"),
            completion: .directory
        )
        var folder: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                """
                The state folder of the server, if it is not var in the folder for the files: /var/lib/gatehouse for the \
                service of systemd. It is not changed.
                """,
                valueName: "folder"
            )
        )
        var state: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The name of the first user, if the users are new; of a user to look up, if they are ldap or sql.",
                valueName: "name"
            )
        )
        var user: String?

        @Flag(name: .long, help: "Ask for nothing but passwords.") var defaults = false

        @OptionGroup var password: NewPasswordOptions

        /// The options of an application without which a question would be asked.
        var missingApplication: [String] {
            [("--host", host.isEmpty), ("--application", application.isEmpty)].filter(\.1).map(\.0)
        }

        /// The options without which a question would be asked.
        func missing(hasProxy: Bool) -> [String] {
            let options = [("--protect", protect == nil), ("--users", users == nil), ("--folder", folder == nil)]
            return options.filter(\.1).map(\.0) + (hasProxy ? missingApplication : [])
        }
    }
}
