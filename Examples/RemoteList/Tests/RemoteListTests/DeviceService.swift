// SPDX-License-Identifier: Apache-2.0

import Foundation
import HTTPSClient
import OpenSSLKit

/// A service in Python with a list of devices.
final class DeviceService {
    private static let python = "/usr/bin/python3"
    private static let openssl = "/usr/bin/openssl"
    static let isPossible = [python, openssl].allSatisfy { FileManager.default.isExecutableFile(atPath: $0) }

    struct Fault: Error {}

    let port: Int
    let pin: Digest
    private let process = Process()
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("remote-list-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.run(
            Self.openssl,
            [
                "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=box",
                "-keyout",
                folder.path + "/key.pem", "-out", folder.path + "/cert.pem",
            ]
        )
        try Self.run(
            Self.openssl,
            ["pkey", "-in", folder.path + "/key.pem", "-pubout", "-outform", "der", "-out", folder.path + "/key.der"]
        )
        let digest = try Self.run(Self.openssl, ["dgst", "-sha256", "-r", folder.path + "/key.der"])
        guard let pin = Digest(pin: String(digest.prefix(64))) else { throw Fault() }
        self.pin = pin
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.python)
        process.arguments = ["-u", "-c", Self.program, folder.path]
        process.standardOutput = output
        try process.run()
        // The program writes its port when it listens.
        guard let line = String(data: output.fileHandleForReading.availableData, encoding: .utf8),
            let port = Int(line.filter(\.isNumber))
        else { throw Fault() }
        self.port = port
    }

    func stop() {
        // The program inherits the signal mask of this thread, which may block SIGTERM.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
        try? FileManager.default.removeItem(at: folder)
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) throws -> String {
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Fault() }
        return String(decoding: data, as: UTF8.self)
    }

    private static let program = """
        from base64 import b64encode
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
        from json import dumps
        from ssl import PROTOCOL_TLS_SERVER, SSLContext
        from sys import argv

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                expected = "Basic " + b64encode(b"ann:open sesame").decode()
                allowed = self.headers.get("Authorization") == expected
                devices = [{"name": "lamp", "isOn": True}, {"name": "fan", "isOn": False}]
                body = dumps(devices if allowed else {"error": "no"}).encode()
                self.send_response(200 if allowed else 401)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *arguments):
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = SSLContext(PROTOCOL_TLS_SERVER)
        context.load_cert_chain(argv[1] + "/cert.pem", argv[1] + "/key.pem")
        server.socket = context.wrap_socket(server.socket, server_side=True)
        print(server.server_address[1])
        server.serve_forever()
        """
}
