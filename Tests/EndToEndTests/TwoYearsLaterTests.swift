// SPDX-License-Identifier: Apache-2.0
// Gatehouse

import Foundation
import Testing

/// The library that moves the clock of a program.
private enum FakeTime {
    static let library = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"]
        .map { "\($0)/faketime/libfaketime.so.1" }.first { FileManager.default.fileExists(atPath: $0) }
}

/// Programs that trust a copy of the authority, two years after it was made.
@Suite(.enabled(if: Program.hasCurl && FakeTime.library != nil, "curl or libfaketime is not installed"))
struct TwoYearsLaterTests {
    private static let configuration = """
        login xtechMyRealm { org.xtech.examples.gfloginmodule.MyLoginModule required; }
        realm xtech { class StartWithRealm; }
        server { listen 127.0.0.1:0; }
        protect / { open; }
        """

    @Test(arguments: ["development-authority.pem", "development-certificate.pem"])
    func `a copy of the authority is still the right one, and the certificate is a new one`(name: String) async throws {
        let first = try await RunningServer(Self.configuration)
        let state = first.folder.url.appendingPathComponent("var")
        let copy = first.folder.url.appendingPathComponent("copy.pem").path
        try FileManager.default.copyItem(atPath: state.appendingPathComponent(name).path, toPath: copy)
        let certificate = try Data(contentsOf: state.appendingPathComponent("development-certificate.pem"))
        #expect(await first.end() == 0)
        let later = [
            "LD_PRELOAD": try #require(FakeTime.library), "FAKETIME": "+730d", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        ]
        let server = try await RunningServer(in: first.folder, environment: later)
        #expect(try Data(contentsOf: state.appendingPathComponent("development-certificate.pem")) != certificate)
        let asked = try await Program.run(
            try #require(Program.system("env")),
            later.map { "\($0)=\($1)" } + ["curl", "-q", "-sS", "--noproxy", "*", "--cacert", copy, server.url],
            in: first.folder.url
        )
        #expect(asked.status == 0, "\(asked)")
        #expect(await server.end() == 0)
    }
}
