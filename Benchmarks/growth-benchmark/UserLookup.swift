// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import RealmConfiguration
import RealmKit
import Store

/// A realm with many users, which are looked up in turn, as a server does for their sessions and a login does before it checks
/// the password.
struct UserLookup: Scenario {
    /// A place where users are kept.
    enum Place: String {
        case file = "FileRealm"
        case store = "StoreRealm"
    }

    private let realm: any RefreshingRealm
    private let names: [Username]

    /// Makes a realm with users.
    ///
    /// - Parameters:
    ///   - place: The place of the users.
    ///   - count: The number of users.
    ///   - parent: An existing folder. The users are kept in a new folder there.
    /// - Throws: ``ConfigurationErrors``, ``RealmError``, or an error of the file system.
    init(_ place: Place, users count: Int, in parent: URL) async throws {
        let folder = parent.appending(path: "\(place)-\(count)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        // No password is checked.
        let hash = "{SSHA256}\(Data(repeating: 7, count: 40).base64EncodedString())"
        let names = try (0..<count).map { try Username("user\($0)") }
        let users = folder.appending(path: "users")
        if place == .file {
            // A key file of GlassFish.
            try Data(names.map { "\($0);\(hash);User\n" }.joined().utf8).write(to: users)
        }
        let text = """
            login users { \(place == .file ? "FileLoginModule" : "StoreLoginModule") required; }
            realm users {
                class \(place.rawValue);
                jaas-context users;
                \(place == .file ? "file \(users.path);" : "")
            }
            server { listen 127.0.0.1:8443; state \(folder.path); }
            """
        let services = ProgramServices(.store, access: .createIfMissing, log: .discarding)
        let loader = ConfigurationLoader(
            builtInRealms,
            files: ConfigurationFiles(text),
            clock: SystemClock(),
            services: services
        )
        let bound = try loader.load("realms.conf").authenticator.realms["users"]?.realm
        guard let realm = bound as? any ManagedRealm & RefreshingRealm else { throw Growth.Failure.realm }
        if place == .store {
            try await realm.add(all: names.map { NewUser(UserRecord($0, groups: ["User"]), hash: hash) })
        }
        (self.realm, self.names) = (realm, names)
    }

    func measure() async -> Double {
        var found = 0
        let time = await Growth.time {
            var index = 0
            for _ in 0..<Growth.requests {
                if case .present = await realm.state(of: names[index]) { found += 1 }
                index = (index + 7_919) % names.count
            }
        }
        precondition(found == Growth.requests)
        return time
    }
}
