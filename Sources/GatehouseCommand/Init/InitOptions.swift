// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ArgumentParser
internal import ProxyFiles

extension GatehouseOptions {
    /// `gatehouse init`: a first configuration.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make a configuration, the files of a proxy, and a first user.",
            discussion: """
                The command asks on the terminal for each option that is missing. With --defaults, a missing option has its \
                default. Without a terminal, all options but --user or --defaults must be given. No file is overwritten, and \
                a command that fails writes nothing.
                """
        )

        @Option(name: .long, help: ArgumentHelp("What is protected. Default: /", valueName: "path"))
        var protect: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                """
                The users: new, for users in a database of Gatehouse; pam, for those of this system; or the path of an \
                htpasswd file or a key file of GlassFish. Default: new.
                """,
                valueName: "source"
            ),
            completion: .file()
        )
        var users: String?

        @Option(
            name: .long,
            help: ArgumentHelp("The proxy: none, nginx, caddy or haproxy. Default: none.", valueName: "proxy"),
            completion: .list(["none"] + ProxyFile.Proxy.allCases.map(\.rawValue))
        )
        var proxy: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The host name of the application behind the proxy. Default: app.example.com.",
                valueName: "name"
            )
        )
        var host: String?

        @Option(
            name: .long,
            help: ArgumentHelp(
                "The address of the application behind the proxy. Default: 127.0.0.1:3000.",
                valueName: "address"
            )
        )
        var application: String?

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
            help: ArgumentHelp("The name of the first user, if the users are new. Default: no user.", valueName: "name")
        )
        var user: String?

        @Flag(name: .long, help: "Ask nothing but the password of the first user.") var defaults = false

        @OptionGroup var password: NewPasswordOptions
    }
}
