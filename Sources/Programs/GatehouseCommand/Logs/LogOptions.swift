// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

extension GatehouseOptions {
    /// `gatehouse log`: the requests, sign-ins and sessions in a log of the server.
    struct Log: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract:
                "Show requests, refused sign-ins and sessions in a log of the server, with the reasons of refusals.",
            discussion: """
                Without a file, the log is read from standard input: journalctl -u gatehouse -o cat | gatehouse log
                Times are in UTC. A time is 10:00, 30m, 2h, 7d, 2026-11-22 or 2026-11-22T10:00:00+01:00.
                """
        )

        @Option(name: .long, help: ArgumentHelp("Only entries of this user.", valueName: "name")) var user: String?
        @Option(name: .long, help: ArgumentHelp("Only entries of clients with this address.", valueName: "address"))
        var address: String?
        @Option(name: .long, help: ArgumentHelp("Only entries from this time on.", valueName: "time"))
        var since: String?
        @Option(name: .long, help: ArgumentHelp("Only entries before this time.", valueName: "time"))
        var until: String?
        @Flag(name: .long, help: "Only refused requests and sign-ins.") var failed = false
        @Flag(name: .long, help: "Show the users, addresses, reasons and rules with the most refusals.") var summary =
            false
        @Flag(name: .long, help: "Print JSON: an object for each entry, or one for the summary.") var json = false
        @Argument(help: "The files in the order of their entries; - for standard input.", completion: .file())
        var files: [String] = []
    }
}
