// SPDX-License-Identifier: Apache-2.0

import Foundation
import RealmKit
import Testing

@testable import Store

@Suite struct LazyStoreTests {
    private static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("gatehouse-lazy-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test(arguments: [StateAccess.existingOnly, .checkOnly])
    func `a program that only reads makes no file, and learns that there is no store`(access: StateAccess) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let lazy = LazyStore(folder: folder, access: access)
        #expect(try lazy.present() == nil)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        // An empty store in memory takes the place of the missing one, and stays.
        let empty = try lazy.store()
        #expect(try lazy.present() === empty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
        #expect(!lazy.isOfOlderVersion)
    }

    @Test(arguments: [StateAccess.createIfMissing, .existingOnly, .checkOnly])
    func `a store that exists is opened once`(access: StateAccess) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        _ = try GatehouseStore.open(folder: folder)
        let lazy = LazyStore(folder: folder, access: access)
        let store = try #require(try lazy.present())
        #expect(try lazy.store() === store)
        #expect(try lazy.present() === store)
    }

    @Test(arguments: [StateAccess.createIfMissing, .existingOnly, .checkOnly])
    func `a store that cannot be opened is an error, and never an empty store`(access: StateAccess) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let path = "\(folder)/\(GatehouseStore.fileName)"
        let text = "this is no database, and long enough for a header of SQLite"
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        let lazy = LazyStore(folder: folder, access: access)
        #expect(throws: StoreFault.self) { _ = try lazy.present() }
        #expect(throws: StoreFault.self) { _ = try lazy.store() }
    }

    @Test(arguments: [StateAccess.createIfMissing, .existingOnly, .checkOnly], ["", "/var", "/var/lib"])
    func `a state folder behind a link that leads nowhere is an error, and never an empty store`(
        access: StateAccess,
        rest: String
    ) throws {
        let folder = try Self.folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let link = "\(folder)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "\(folder)/not-mounted")
        let lazy = LazyStore(folder: link + rest, access: access)
        #expect(throws: StoreFault.self) { _ = try lazy.present() }
        #expect(throws: StoreFault.self) { _ = try lazy.store() }
    }
}
