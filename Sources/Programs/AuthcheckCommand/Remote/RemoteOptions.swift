// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// The arguments of `authcheck` for a check by a server.
struct RemoteOptions: ParsableArguments {
    @Option(
        name: .long,
        help: ArgumentHelp("Ask a server with a realm API, instead of the realms of a configuration.", valueName: "url")
    )
    var server: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The authorities that are trusted to name the server, in PEM.", valueName: "file"),
        completion: .file()
    )
    var ca: String?

    @Option(
        name: .long,
        help: ArgumentHelp(
            "The SHA-256 of the server's public key, as sha256//BASE64 or in hexadecimal digits.",
            valueName: "sha256"
        )
    )
    var pin: String?

    @Option(
        name: .long,
        help: ArgumentHelp("The file with the token of the realm API.", valueName: "file"),
        completion: .file()
    )
    var tokenFile: String?

    @Flag(name: .long, help: "List the realms of the server.")
    var list = false

    @Flag(name: .long, help: "Ask for a one-time code after the password.")
    var code = false

    @Flag(
        name: .long,
        help: "Remember the server, its key or authorities, the user and the token file, but no password."
    )
    var remember = false

    func validate() throws {
        if ca != nil, pin != nil { throw ValidationError("--ca and --pin cannot be combined") }
        guard server == nil else { return }
        let given: [(String, Bool)] = [
            ("--ca", ca != nil), ("--pin", pin != nil), ("--token-file", tokenFile != nil), ("--list", list),
            ("--code", code), ("--remember", remember),
        ]
        if let option = given.first(where: \.1)?.0 { throw ValidationError("\(option) needs --server") }
    }
}
