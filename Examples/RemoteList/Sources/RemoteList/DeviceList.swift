// SPDX-License-Identifier: Apache-2.0

internal import Foundation
public import HTTPSClient
public import RealmKit

/// A device in the list of a service.
public struct Device: Sendable, Hashable, Decodable {
    /// The name.
    public let name: String
    /// True if the device is switched on.
    public let isOn: Bool
}

/// The reason why there is no list.
public enum ListFault: Error, Hashable {
    /// The service answered with another status than 200.
    case status(Int)
    /// The answer is not a list of devices.
    case noList
    /// There is no answer.
    case noAnswer(HTTPSClientError.Code)
}

/// Receives the answer of a service, and reads the list of devices.
public final class DeviceList: HTTPSResponseDelegate {
    /// The list, when the answer is complete.
    public private(set) var result: Result<[Device], ListFault>?
    private var body: [UInt8] = []

    /// Creates an empty list.
    public init() {}

    /// Receives the status; the body is wanted only if the status is 200.
    public func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
        guard response.status == 200 else {
            result = .failure(.status(response.status))
            return .stop
        }
        return .proceed
    }

    /// Receives a part of the body.
    public func didReceive(_ part: [UInt8]) async -> ResponseProgress {
        body += part
        return .proceed
    }

    /// Reads the list.
    public func didFinish() async {
        do {
            result = .success(try JSONDecoder().decode([Device].self, from: Data(body)))
        } catch {
            result = .failure(.noList)
        }
    }

    /// Receives the error.
    public func didFail(_ error: HTTPSClientError) async {
        // After `stop`, the result is there already.
        if result == nil { result = .failure(.noAnswer(error.code)) }
    }

    /// Asks a service for its devices.
    ///
    /// - Parameters:
    ///   - url: The address of the list.
    ///   - authorization: The user name, a colon and the password, in Base64.
    ///   - client: The client.
    /// - Returns: The devices.
    /// - Throws: ``ListFault``.
    public static func devices(
        at url: HTTPSURL,
        authorization: Secret,
        client: HTTPSClient
    ) async throws -> [Device] {
        var request = try HTTPSRequest("GET", url)
        try request.addField("Authorization", prefix: "Basic ", secret: authorization)
        let list = DeviceList()
        await client.send(request, to: list)
        guard let result = list.result else { throw ListFault.noAnswer(.connectionClosed) }
        return try result.get()
    }
}
