// SPDX-License-Identifier: Apache-2.0

import GRPCCore
import RealmVerifier

struct Door: RegistrableRPCService, MessageSerializer, MessageDeserializer {
    static let enter = MethodDescriptor(fullyQualifiedService: "Door", method: "Enter")

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(forMethod: Self.enter, deserializer: self, serializer: self) { _, _ in
            let user = ServiceContext.current?.signedInUser
            return StreamingServerResponse(
                single: ServerResponse(message: "welcome, \(user?.username.text ?? "stranger")")
            )
        }
    }
    func serialize<Bytes: GRPCContiguousBytes>(_ text: String) -> Bytes { Bytes(text.utf8) }
    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
