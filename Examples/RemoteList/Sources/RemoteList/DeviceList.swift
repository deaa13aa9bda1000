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

/// The list of devices of a service.
public enum DeviceList {
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
        let response: HTTPSResponse
        do {
            response = try await client.response(to: request)
        } catch {
            throw ListFault.noAnswer(error.code)
        }
        guard response.status == 200 else { throw ListFault.status(response.status) }
        do {
            return try JSONDecoder().decode([Device].self, from: Data(response.body))
        } catch {
            throw ListFault.noList
        }
    }
}
