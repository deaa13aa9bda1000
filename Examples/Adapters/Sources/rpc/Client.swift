// SPDX-License-Identifier: Apache-2.0

import Foundation
import GRPCCore

func callDoor(_ transport: some ClientTransport) async throws {
    try await withGRPCClient(transport: transport) { client in
        for credentials in ["ann:violet lamp", "ben:violet lamp", "ann:a guess"] {
            let request = ClientRequest(
                message: "",
                metadata: ["authorization": "Basic \(Data(credentials.utf8).base64EncodedString())"]
            )
            try await client.unary(
                request: request,
                descriptor: Door.enter,
                serializer: Door(),
                deserializer: Door(),
                options: .defaults
            ) { answer in
                print(Result { try answer.message })
            }
        }
    }
}
