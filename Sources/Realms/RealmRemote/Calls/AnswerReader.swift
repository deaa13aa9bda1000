// SPDX-License-Identifier: Apache-2.0

internal import Bytes
internal import HTTPSClient
internal import RealmKit

/// Reads the response of a service while it arrives.
final class AnswerReader: HTTPSResponseDelegate {
    private let format: AnswerFormat
    /// The reader of the body; nil if the body is not JSON, or no path is configured.
    private var reader: JSONReader?
    private var status = 0
    private var contentType: String?
    private var jsonFault: JSONReader.Fault?
    private(set) var result: Result<RemoteAnswer, Outage> = .failure(Outage("there is no response", kind: "none"))

    /// The reason why a service gave no usable answer.
    struct Outage: Error {
        let cause: String
        /// The kind of cause; one of a limited number.
        let kind: String
        /// True if the service may have received the password.
        let mayHaveReachedServer: Bool
        /// True if the service, or the client, has too much to do.
        let isOverload: Bool

        var isTimeout: Bool {
            [HTTPSClientError.Code.timedOut, .connectTimedOut].contains { $0.rawValue == kind }
        }

        init(_ cause: String, kind: String, mayHaveReachedServer: Bool = true, isOverload: Bool = false) {
            self.cause = cause
            self.kind = kind
            self.mayHaveReachedServer = mayHaveReachedServer
            self.isOverload = isOverload
        }
    }

    init(_ format: AnswerFormat) {
        self.format = format
    }

    func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
        status = response.status
        contentType = response["content-type"].first
        if !format.paths.isEmpty, JSONMediaType.isJSON(contentType ?? "") { reader = JSONReader(format.paths) }
        return .proceed
    }

    func didReceive(_ part: [UInt8]) async -> ResponseProgress {
        guard var reader else { return .proceed }
        // The copy must be the only one while it changes.
        self.reader = nil
        defer { self.reader = reader }
        do throws(JSONReader.Fault) {
            try reader.read(part.span)
            return .proceed
        } catch {
            jsonFault = error
            return .stop
        }
    }

    func didFinish() async {
        let checks = AnswerChecks(format: format, status: status, contentType: contentType)
        guard var reader else {
            result = checks.result(nil)
            return
        }
        do throws(JSONReader.Fault) {
            try reader.finish()
            result = checks.result(reader.values)
        } catch {
            result = .failure(malformed(error))
        }
    }

    func didFail(_ error: HTTPSClientError) async {
        if let jsonFault {
            result = .failure(malformed(jsonFault))
        } else {
            result = .failure(
                Outage(
                    error.cause,
                    kind: error.code.rawValue,
                    mayHaveReachedServer: error.mayHaveReachedServer,
                    isOverload: error.code == .tooManyRequests
                )
            )
        }
    }

    private func malformed(_ fault: JSONReader.Fault) -> Outage {
        Outage("the body of the response with status \(status) is not valid JSON: \(fault.description)", kind: "json")
    }
}

/// The answer of a service.
enum RemoteAnswer: Sendable {
    /// The user is accepted.
    ///
    /// The user name is nil if no path to it is configured.
    case accepted(user: Username?, groups: [String], attributes: [UserAttribute])
    /// The user is refused.
    case failed(LoginFailure)
}
