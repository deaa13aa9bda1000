// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import CommandSupport
internal import Glibc
internal import Passwords
internal import RealmConfiguration
internal import RealmKit

extension GatehouseOptions {
    /// `gatehouse init`: a first configuration.
    struct Init: Subcommand {
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

        @Option(help: ArgumentHelp("What is protected. Default: /", valueName: "path")) var protect: String?
        @Option(
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
            help: ArgumentHelp(
                "A property of the realm, if the users are ldap or sql: directory=ldaps://ldap.example.org",
                valueName: "name=value"
            )
        )
        var property: [String] = []
        @Option(
            help: ArgumentHelp(
                "The file with the password of the account for the directory or the database.",
                valueName: "file"
            ),
            completion: .file()
        )
        var passwordFile: String?
        @Option(
            help: ArgumentHelp("The proxy: none, nginx, caddy or haproxy. Default: none.", valueName: "proxy"),
            completion: .list(["none"] + ProxyFile.Proxy.allCases.map(\.rawValue))
        )
        var proxy: String?
        @Option(
            help: ArgumentHelp(
                "The host name of an application behind the proxy; may be repeated. Default: app.example.com.",
                valueName: "name"
            )
        )
        var host: [String] = []
        @Option(
            help: ArgumentHelp(
                "The address of the application, one for each --host, in the same order. Default: 127.0.0.1:3000.",
                valueName: "address"
            )
        )
        var application: [String] = []
        @Option(
            help: ArgumentHelp(
                "The host at which users sign in once for all applications. Default: each has its own sign-in page.",
                valueName: "name"
            )
        )
        var signInHost: String?
        @Flag(
            help: """
                Add applications to realms.conf of the folder. For nginx and Caddy, a file for each is made; for HAProxy, \
                only commands are printed.
                """
        )
        var add = false
        @Option(
            help: ArgumentHelp("The folder for the files. Default: the current folder.", valueName: "folder"),
            completion: .directory
        )
        var folder: String?
        @Option(
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
            help: ArgumentHelp(
                "The name of the first user, if the users are new; of a user to look up, if they are ldap or sql.",
                valueName: "name"
            )
        )
        var user: String?
        @Flag(help: "Ask for nothing but passwords.") var defaults = false
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

        /// Makes all files and the first user, or nothing: the answers, the configuration and the password are checked first.
        func perform(_ kinds: [RealmKind]) async throws {
            let questions = InitQuestions(self, kinds)
            guard !add else { return try addApplications(questions) }
            let answers = try await InitAnswers(questions)
            let log = GatehouseCommand.realmLog
            let configuration = try answers.load(kinds, access: .existingOnly, log: log)
            configuration.warnings.forEach(GatehouseCommand.warn)
            await warnOfUnusableFile(answers, configuration)
            let firstUser = try await firstUser(answers, configuration)
            let hadState = NewFiles.exists(answers.stateFolder)
            let files = answers.files
            var written = NewFiles()
            try Result { () throws(NewFiles.Fault) in try written.write(files) }.mapError(answers.advice).get()
            if let firstUser {
                do {
                    // The state folder is created if it is missing.
                    let configuration = try answers.load(kinds, access: .createIfMissing)
                    try await UserAdministration(configuration).realm
                        .add(UserRecord(firstUser.name), hash: firstUser.hash)
                } catch {
                    if !hadState { NewFiles.removeFolder(answers.stateFolder) }
                    written.remove()
                    let error = CommandError(error)
                    throw CommandError(error.status, "\(error.message)\nnothing was written")
                }
            }
            for file in files { GatehouseCommand.print("made \(file.path)") }
            if let firstUser { firstUser.administration.report("\(Printable.line(firstUser.name.text)) added") }
            let isUsable = await Self.testServers(answers, configuration)
            GatehouseCommand.print(answers.nextSteps())
            guard !isUsable else { return }
            let file = answers.configurationFile
            let user = answers.user.map { " \(ShellWord.quoted($0.text))" } ?? ""
            throw CommandError(
                .unavailable,
                """
                the realm cannot be used yet: correct \(file), and run gatehouse realm test people\(user) \
                --config \(ShellWord.quoted(file))
                """
            )
        }

        /// Tests the servers of the realm; false if a step has failed.
        private static func testServers(_ answers: InitAnswers, _ configuration: Configuration) async -> Bool {
            guard case .servers = answers.users, let realm = configuration.realms.first else { return true }
            return await RealmTest.run(realm, user: answers.user) ?? true
        }

        private func warnOfUnusableFile(_ answers: InitAnswers, _ configuration: Configuration) async {
            guard case .file(let path) = answers.users,
                let realm = configuration.realms.first?.realm as? any UserListingRealm
            else { return }
            // The file was read a moment ago; the server logs why it cannot be read.
            guard let users = try? await realm.users() else { return }
            guard !users.contains(where: { $0.isEnabled && $0.format != nil }) else { return }
            let reason =
                users.isEmpty
                ? "the file has no users" : "each user is disabled, or has no password that can be checked"
            GatehouseCommand.print("warning: no user of \(path) can sign in: \(reason)", on: STDERR_FILENO)
        }

        /// The first user, whose password is checked and hashed before a file is written; nil for none.
        private func firstUser(
            _ answers: InitAnswers,
            _ configuration: Configuration
        ) async throws -> (name: Username, hash: String, administration: UserAdministration)? {
            guard case .new = answers.users, let name = answers.user else { return nil }
            let administration = try UserAdministration(configuration)
            let settings = administration.settings
            let secret = try await password.read(for: name.text) { secret in
                do throws(HashFault) { try settings.check(secret) } catch { return error.description }
                return nil
            }
            return (name, try await administration.hash(secret), administration)
        }
    }
}
