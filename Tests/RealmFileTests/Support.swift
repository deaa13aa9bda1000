// SPDX-License-Identifier: Apache-2.0

import Files
import Foundation
import Passwords
import RealmKit
import Synchronization

@testable import RealmFile

/// Hashes in the formats of several programs.
///
/// Their checks are fast.
enum KnownHashes {
    /// The SHA-1 of `secret`, salted with the bytes 1 to 8.
    static let ssha = "{SSHA}lHFzXul4wnzRItssVcTnvXWRjNgBAgMEBQYHCA=="
    /// The SHA-256 of `secret` in 100 rounds, as GlassFish computes it.
    static let glassfish = "{SSHA256}x6t5hlGtPj4OPvXhOxWodhYyyTyg6LoBbrurY375hSUBAgMEBQYHCA=="
    /// The SHA-1 of `lilac`.
    static let lilac = "{SHA}rLfHliJBkMFMcs6yZScXcKfFRCQ="
}

/// A temporary folder for one test.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = NSTemporaryDirectory().trimmingSuffix("/") + "/file-realm-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        unsafe chmod(path, 0o700)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { "\(path)/\(name)" }

    @discardableResult
    func write(_ text: String, to name: String = "users", mode: mode_t = 0o600) throws -> String {
        try write(Array(text.utf8), to: name, mode: mode)
    }

    /// Writes in place, as htpasswd does.
    @discardableResult
    func write(_ bytes: [UInt8], to name: String = "users", mode: mode_t = 0o600) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        unsafe chmod(file(name), mode)
        return file(name)
    }

    func bytes(_ name: String = "users") throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
    }

    func text(_ name: String = "users") throws -> String { String(decoding: try bytes(name), as: UTF8.self) }

    var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}

/// The log entries of a realm.
final class RecordedLog: Sendable {
    private let lines = Mutex<[String]>([])

    var log: RealmLog { RealmLog { [self] level, text in lines.withLock { $0.append("\(level): \(text)") } } }
    var entries: [String] { lines.withLock { $0 } }
}

/// A wall clock that the test sets, in nanoseconds.
final class ManualWallClock: Sendable {
    private let time: Mutex<Int>

    /// Creates a clock; the default time is one hour from now.
    ///
    /// Files that the test writes are then no longer recent.
    init(_ time: Int = FileStamp.systemNow() + 3600 * 1_000_000_000) { self.time = Mutex(time) }

    var now: @Sendable () -> Int { { [self] in time.withLock { $0 } } }
    func set(_ moment: Int) { time.withLock { $0 = moment } }
    func advance(seconds: Double) { time.withLock { $0 += Int(seconds * 1e9) } }
}

extension FileRealm {
    /// Creates a realm of files in a folder.
    ///
    /// With the default clock the files are old enough to be read as complete.
    static func make(
        _ folder: TemporaryFolder,
        _ properties: [String: PropertyValue] = [:],
        file name: String = "users",
        groups: String? = nil,
        services: RealmServices = .none,
        log: RecordedLog? = nil,
        clock: ManualWallClock = ManualWallClock()
    ) throws -> FileRealm {
        var values = properties
        values["file"] = .string(folder.file(name))
        if let groups { values["group-file"] = .string(folder.file(groups)) }
        var services = services
        if let log { services[RealmLog.self] = log.log }
        let read = try RealmProperties(values, schema: Self.properties, realmName: "files", services: services)
        return try FileRealm(read, now: clock.now)
    }

    /// The users with their groups.
    ///
    /// A `!` stands before users who cannot sign in.
    var listing: [String] {
        files.table.users.map { user in
            "\(user.usablePassword == nil ? "!" : "")\(user.name): \(user.groups.joined(separator: ","))"
        }
    }

    /// Returns the warnings without the path of the folder.
    func warnings(in folder: TemporaryFolder) -> [String] {
        warnings.map { $0.replacingOccurrences(of: folder.path + "/", with: "") }
    }
}
