// SPDX-License-Identifier: Apache-2.0

internal import AccessControl
internal import ArgumentParser
internal import CommandSupport

extension GatehouseOptions {
    /// `gatehouse explain`: the decision about a request, and the reason for it.
    struct Explain: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "explain",
            abstract: "Show whether a request would be allowed, and which rule decides.",
            discussion: """
                No password is needed. The user of --user is taken as signed in. \
                Exit status: 0 the request would be allowed, even if a lock refuses a new sign-in, \
                1 it would be denied, 2 wrong arguments.
                """
        )

        @OptionGroup var options: RealmOptions
        @Argument(
            help: "The method, such as GET.",
            completion: .list(Self.methods)
        )
        var method: String
        @Argument(help: ArgumentHelp("A URL with http or https, or only a path.", valueName: "url")) var url: String
        @Option(
            name: .long,
            help: ArgumentHelp("The user who makes the request. Default: not signed in.", valueName: "name")
        )
        var user: String?
        @Option(
            name: .long,
            help: ArgumentHelp(
                "The groups of the user; the realm may add groups. Default: the groups that the realm returns.",
                valueName: "a,b"
            )
        )
        var groups: String?
        @Option(name: .long, help: ArgumentHelp("The address of the client.", valueName: "address"))
        var from: String?

        static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]

        func validate() throws {
            guard url != "*" else {
                throw ValidationError("* is the target of OPTIONS for the whole server, and no rule is for it")
            }
            guard url.hasPrefix("/") || RequestURL(url) != nil else {
                throw ValidationError("\(url) is not a URL: write a path such as /welcome, or https://HOST/PATH")
            }
            let isToken = method.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == UInt8(ascii: "-") }
            guard isToken, !method.isEmpty else {
                throw ValidationError("\(method) is not a method: methods are in capital letters, such as GET")
            }
            guard user != nil || groups == nil else { throw ValidationError("--groups needs --user") }
        }
    }
}
