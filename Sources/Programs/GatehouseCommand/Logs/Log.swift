// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import Bytes
internal import CommandSupport
internal import Files
internal import Glibc
internal import RealmConfiguration
internal import RealmKit
internal import SignIn

extension GatehouseOptions {
    /// `gatehouse log`: the requests, sign-ins and sessions in a log of the server.
    struct Log: Subcommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract:
                "Show requests, refused sign-ins and sessions in a log of the server, with the reasons of refusals.",
            discussion: """
                Without a file, the log is read from standard input: journalctl -u gatehouse -o cat | gatehouse log
                Times are in UTC. A time is 10:00, 30m, 2h, 7d, 2026-11-22 or 2026-11-22T10:00:00+01:00.
                With --why, the stacks are those of the configuration as it is now.
                """
        )

        @OptionGroup var options: ConfigurationOptions
        @Option(help: ArgumentHelp("Only entries of this user.", valueName: "name")) var user: String?
        @Option(help: ArgumentHelp("Only entries of clients with this address.", valueName: "address"))
        var address: String?
        @Option(help: ArgumentHelp("Only entries from this time on.", valueName: "time")) var since: String?
        @Option(help: ArgumentHelp("Only entries before this time.", valueName: "time")) var until: String?
        @Option(help: ArgumentHelp("Only entries of this time, as it is printed.", valueName: "time")) var at: String?
        @Flag(help: "Only refused requests and sign-ins.") var failed = false
        @Flag(help: "Print which module has decided each refused login, and which answers would have granted it.")
        var why = false
        @Flag(help: "Show the users, addresses, reasons and rules with the most refusals.") var summary = false
        @Flag(help: "Print JSON: an object for each entry, or one for the summary.") var json = false
        @Argument(help: "The files in the order of their entries; - for standard input.", completion: .file())
        var files: [String] = []

        func validate() throws {
            guard !why || !summary else { throw ValidationError("--why and --summary exclude each other") }
            guard why || options.config == nil && options.property.isEmpty else {
                throw ValidationError("--config and -D need --why")
            }
            guard at == nil || since == nil && until == nil else {
                throw ValidationError("--at cannot be combined with --since and --until")
            }
        }

        func perform(_ kinds: [RealmKind]) async throws {
            let now = LogTime(milliseconds: WallClock.system.seconds * 1000)
            let time = try at.map { text in
                // A time with milliseconds.
                guard text.utf8.count == 24, text.utf8.contains(UInt8(ascii: ".")), let time = LogTime(text, now: now)
                else {
                    throw CommandError(.usage, "--at takes a time as it is printed, such as 2026-11-22T10:00:00.123Z")
                }
                return time
            }
            let filter = LogFilter(
                user: try user.map { name in UTF8Text(try Username(argument: name).text) },
                address: address.map { UTF8Text($0) },
                since: try time ?? since.map { text in try Self.time(text, of: "--since", now: now) },
                until: try time.map { LogTime(milliseconds: $0.milliseconds + 1) }
                    ?? until.map { text in try Self.time(text, of: "--until", now: now) },
                onlyFailures: failed
            )
            guard !files.isEmpty || isatty(STDIN_FILENO) == 0 else {
                throw CommandError(
                    .usage,
                    "a log is missing; for example: journalctl -u gatehouse -o cat | gatehouse log"
                )
            }
            var reading = LogReading(
                filter: filter,
                output: summary ? .summary(asJSON: json) : json ? .json : .lines,
                refusals: try why
                    ? RefusedLogins(GatehouseCommand.load(options, kinds: kinds, access: .checkOnly).realms) : nil
            )
            for file in files.isEmpty ? ["-"] : files { try reading.read(file) }
            reading.finish()
            guard reading.entries > 0 || reading.unreadable == 0 else {
                throw CommandError(.failed, "none of the lines is of a log of Gatehouse")
            }
        }

        private static func time(_ text: String, of option: String, now: LogTime) throws -> LogTime {
            guard let time = LogTime(text, now: now) else {
                throw CommandError(
                    .usage,
                    "\(option) takes a time such as 10:00, 30m, 2h, 7d, 2026-11-22 or 2026-11-22T10:00:00Z, not \(text)"
                )
            }
            return time
        }
    }
}

struct LogFilter: Sendable {
    var user: UTF8Text?
    var address: UTF8Text?
    var since: LogTime?
    /// The time before which the entries must be.
    var until: LogTime?
    var onlyFailures = false

    func includes(_ entry: LogEntry) -> Bool {
        if let since, entry.time < since { return false }
        if let until, entry.time >= until { return false }
        if let user, entry[.user] != user { return false }
        if let address, entry[.address] != address { return false }
        return !onlyFailures || entry.isFailure
    }
}

private struct LogReading {
    enum Output {
        case lines
        case json
        case summary(asJSON: Bool)
    }

    let filter: LogFilter
    let output: Output
    /// The explanations of refused logins; nil if they are not wanted.
    private var refusals: RefusedLogins?
    private var repeated = RepeatedFailures()
    private var summary = LogSummary()
    private(set) var entries = 0
    private(set) var unreadable = 0
    private var lost = 0
    private var selected = 0

    init(filter: LogFilter, output: Output, refusals: RefusedLogins?) {
        (self.filter, self.output, self.refusals) = (filter, output, refusals)
    }

    /// Reads a file, or standard input for `-`, to its end, and prints the entries that are selected.
    ///
    /// The memory does not depend on the size of the file. A file that is cut off meanwhile ends there.
    mutating func read(_ name: String) throws {
        let shown = name == "-" ? "standard input" : Printable.line(name)
        var splitter = LineSplitter()
        var isCompressed = false
        do throws(SystemError) {
            let file = try name == "-" ? OpenFile.standardInput() : OpenFile(name, .stream)
            var bytes = try file.part(ofAtMost: 1 << 18)
            isCompressed = bytes.starts(with: [0x1F, 0x8B])
            while !bytes.isEmpty, !isCompressed {
                print(splitter.add(bytes))
                bytes = try file.part(ofAtMost: 1 << 18)
            }
        } catch {
            throw CommandError(.failed, "\(shown) cannot be read: \(error)")
        }
        guard !isCompressed else {
            throw CommandError(.failed, "\(shown) is compressed; use zcat FILE | gatehouse log")
        }
        print(splitter.finish())
    }

    private mutating func print(_ lines: [[UInt8]?]) {
        let texts = lines.compactMap { text(of: $0) }
        if !texts.isEmpty { GatehouseCommand.print(texts.joined(separator: "\n")) }
    }

    /// Counts a line, and returns the text of its entry, if it is printed.
    private mutating func text(of line: [UInt8]?) -> String? {
        switch line.map(LogLine.init) ?? .unreadable {
        case .unreadable: unreadable += 1
        case .lost(let count): lost += count
        case .entry(let entry):
            entries += 1
            // A refusal with two lines is counted once, and is one of the refusals once.
            let isSelected = filter.includes(entry)
            let isRepeated = repeated.isRepeated(entry, isSelected: isSelected)
            guard isSelected else { return nil }
            if isRepeated {
                guard case .lines = output, !filter.onlyFailures else { return nil }
            }
            selected += 1
            switch output {
            case .lines:
                let reasons = isRepeated ? [] : refusals?.lines(about: entry) ?? []
                return ([entry.line] + reasons.map { "  \($0)" }).joined(separator: "\n")
            case .json: return entry.json(why: refusals?.lines(about: entry)).text(.terminal)
            case .summary: summary.add(entry)
            }
        }
        return nil
    }

    func finish() {
        switch output {
        case .summary(asJSON: true):
            GatehouseCommand.print(summary.json(unreadable: unreadable, lost: lost).text(.terminal))
        case .summary: GatehouseCommand.print(summary.text)
        case .lines where selected == 0: GatehouseCommand.print("there are no such entries")
        case .lines, .json: break
        }
        if unreadable > 0 {
            let text =
                unreadable == 1
                ? "1 line is not an entry of a log of Gatehouse, or is cut off"
                : "\(unreadable) lines are not entries of a log of Gatehouse, or are cut off"
            GatehouseCommand.print(text, on: STDERR_FILENO)
        }
        if lost > 0 {
            let lines = lost == 1 ? "1 line" : "\(lost) lines"
            GatehouseCommand.print(
                "the server has lost \(lines), because its output was not read",
                on: STDERR_FILENO
            )
        }
    }
}
