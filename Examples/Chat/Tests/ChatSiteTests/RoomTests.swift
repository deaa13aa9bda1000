// SPDX-License-Identifier: Apache-2.0

import BuiltInRealms
import Foundation
import HummingbirdRealms
import Logging
import RealmConfiguration
import RealmKit
import Synchronization
import Testing

@testable import ChatSite

@Suite struct RoomTests {
    /// A room with a manual clock.
    private final class Scene: Sendable {
        let time = Mutex(1000.0)
        let room: Room

        init() {
            let box = Box()
            room = Room { box.scene?.time.withLock { $0 } ?? 0 }
            box.scene = self
        }

        func wait(_ seconds: Double) { time.withLock { $0 += seconds } }

        private final class Box: @unchecked Sendable {
            // It is set before the first request, and never changed afterwards.
            weak var scene: Scene?
        }
    }

    /// Returns a user.
    ///
    /// Only a login at a realm can create a `SignedInUser`.
    private static func user(_ name: String) async throws -> SignedInUser {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let realms = try await Realms(
            try Browser.copy(of: Browser.configuration()).path,
            kinds: builtInRealms,
            logger: logger
        )
        let request = LoginRequest(realm: "guests", username: try Username(name))
        let report = try await realms.configuration.authenticator.login(
            request,
            asking: PreparedConversation(password: Secret(utf8: ""))
        )
        return SignedInUser(try #require(report.identity))
    }

    private static func texts(_ listening: Listening) async -> [String] {
        listening.end()
        var texts: [String] = []
        for await event in listening.events {
            if case .message(let message) = event { texts.append(message.text) }
        }
        return texts
    }

    @Test func `every listener receives messages until it leaves`() async throws {
        let scene = Scene()
        let zed = try await Self.user("zed")
        let (first, second) = (scene.room.listen(after: nil), scene.room.listen(after: nil))
        #expect(scene.room.listeners == 2)
        #expect(
            scene.room.post(" hello\n", by: zed)
                == .posted(Message(number: 1, author: "zed", text: "hello", time: 1000))
        )
        #expect(await Self.texts(first) == ["hello"])
        #expect(scene.room.listeners == 1)
        #expect(await Self.texts(second) == ["hello"])
        #expect(scene.room.listeners == 0)
    }

    @Test func `the last fifty messages are kept, and a listener gets the messages after a number`() async throws {
        let scene = Scene()
        let zed = try await Self.user("zed")
        for number in 1...60 {
            scene.wait(Room.pause)
            _ = scene.room.post("\(number)", by: zed)
        }
        #expect(await Self.texts(scene.room.listen(after: nil)) == (11...60).map(String.init))
        #expect(await Self.texts(scene.room.listen(after: 58)) == ["59", "60"])
        #expect(await Self.texts(scene.room.listen(after: 60)) == [])
        // This number is from an earlier run of the server.
        #expect(await Self.texts(scene.room.listen(after: 61)).count == 50)
    }

    @Test func `the number of messages of a user is limited`() async throws {
        let scene = Scene()
        let (zed, zoe) = (try await Self.user("zed"), try await Self.user("zoe"))
        func isPosted(_ user: SignedInUser) -> Bool {
            if case .posted = scene.room.post("x", by: user) { true } else { false }
        }
        for _ in 0..<Int(Room.burst) { #expect(isPosted(zed)) }
        #expect(scene.room.post("x", by: zed) == .tooSoon(2))
        #expect(isPosted(zoe))
        scene.wait(1.5)
        #expect(scene.room.post("x", by: zed) == .tooSoon(1))
        scene.wait(0.5)
        #expect(isPosted(zed))
        #expect(!isPosted(zed))
        scene.wait(1_000_000)
        for _ in 0..<Int(Room.burst) { #expect(isPosted(zed)) }
        #expect(!isPosted(zed))
    }

    @Test(arguments: [
        "", " \n\t", "a\u{0}b", "a\u{1B}[2J", "a\nb", String(repeating: "x", count: Room.maximumBytes + 1),
    ])
    func `a text that is empty, too long or of several lines is refused`(text: String) async throws {
        let scene = Scene()
        let zed = try await Self.user("zed")
        #expect(scene.room.post(text, by: zed) == .unusable)
        let longest = String(repeating: "x", count: Room.maximumBytes)
        #expect(scene.room.post(longest, by: zed) != .unusable)
    }
}
