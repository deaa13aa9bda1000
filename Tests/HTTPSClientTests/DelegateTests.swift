// SPDX-License-Identifier: Apache-2.0

import HTTPSClient
import HTTPSTesting
import TLSTesting
import TestTools
import Testing

@Suite(.enabled(if: TestPKI.isPossible, "openssl is not installed"))
struct DelegateTests {
    /// A delegate that records its calls.
    private final class Recorder: HTTPSResponseDelegate {
        var calls: [String] = []
        var body: [UInt8] = []
        var error: HTTPSClientError?
        let limit: Int

        init(limit: Int = .max) {
            self.limit = limit
        }

        func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
            calls.append("response \(response.status)")
            return .proceed
        }

        func didReceive(_ part: [UInt8]) async -> ResponseProgress {
            if calls.last != "part" { calls.append("part") }
            body += part
            return body.count >= limit ? .stop : .proceed
        }

        func didFinish() async { calls.append("finished") }

        func didFail(_ error: HTTPSClientError) async {
            calls.append("failed \(error.code)")
            self.error = error
        }
    }

    @Test func `the calls for a response in parts`() async throws {
        let bytes = Array("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n".utf8) + Array(repeating: 0x61, count: 1000)
        try await Fixture.withService(respond: { _ in [.pieces(bytes, size: 7)] }) { service in
            let recorder = Recorder()
            try await Fixture.client().send(HTTPSRequest("GET", service.url()), to: recorder)
            #expect(recorder.calls == ["response 200", "part", "finished"])
            #expect(recorder.body == Array(repeating: 0x61, count: 1000))
        }
    }

    @Test func `the calls for a response that ends too early`() async throws {
        let text = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nab"
        let latch = Latch()
        try await Fixture.withService(respond: { _ in [.send(text), .wait(latch), .close] }) { service in
            let recorder = Recorder(limit: 2)
            try await Fixture.client().send(HTTPSRequest("GET", service.url()), to: recorder)
            #expect(recorder.calls == ["response 200", "part", "failed stopped"])
            #expect(recorder.error?.mayHaveReachedServer == true)
            latch.open()
            try await Waiting.until { service.closedConnections == 1 }
        }
    }

    @Test func `a delegate that is slow makes the server wait`() async throws {
        final class Slow: HTTPSResponseDelegate {
            let latch: Latch
            var count = 0

            init(_ latch: Latch) {
                self.latch = latch
            }

            func didReceive(_ response: HTTPSResponse) async -> ResponseProgress { .proceed }

            func didReceive(_ part: [UInt8]) async -> ResponseProgress {
                count += part.count
                await latch.pass()
                return .proceed
            }

            func didFinish() async {}
            func didFail(_ error: HTTPSClientError) async { count = -1 }
        }
        let total = 50_000_000
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(total)\r\n\r\n"
        try await Fixture.withService(respond: { _ in [.send(head), .flood(total)] }) { service in
            let latch = Latch()
            let client = try Fixture.client { configuration in
                configuration.maximumBody = total
                configuration.timeout = .seconds(120)
            }
            let request = try HTTPSRequest("GET", service.url())
            let task = Task {
                let delegate = Slow(latch)
                await client.send(request, to: delegate)
                return delegate.count
            }
            // The server stops when the buffers of the system are full.
            var last = -1
            let begin = ContinuousClock.now
            while last != service.floodBytes || last == 0, begin.duration(to: .now) < .seconds(60) {
                last = service.floodBytes
                try await Task.sleep(for: .milliseconds(200))
            }
            #expect(service.floodBytes < 30_000_000)
            latch.open()
            #expect(await task.value == total)
        }
    }
}
