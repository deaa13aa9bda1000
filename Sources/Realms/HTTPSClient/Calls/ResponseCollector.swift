// SPDX-License-Identifier: Apache-2.0

/// A delegate that collects the response.
final class ResponseCollector: HTTPSResponseDelegate {
    private let maximumBody: Int
    private var response: HTTPSResponse?
    private var body: [UInt8] = []
    private(set) var result: Result<CollectedResponse, HTTPSClientError> = .failure(
        HTTPSClientError(.connectionClosed, "there is no response")
    )

    init(maximumBody: Int) {
        self.maximumBody = maximumBody
    }

    func didReceive(_ response: HTTPSResponse) async -> ResponseProgress {
        self.response = response
        return .proceed
    }

    func didReceive(_ part: [UInt8]) async -> ResponseProgress {
        guard body.count + part.count <= maximumBody else { return .stop }
        body += part
        return .proceed
    }

    func didFinish() async {
        guard let response else { return }
        result = .success(CollectedResponse(response: response, body: body))
    }

    func didFail(_ error: HTTPSClientError) async {
        guard error.code == .stopped else {
            result = .failure(error)
            return
        }
        let cause = "the body is longer than \(maximumBody) bytes"
        result = .failure(HTTPSClientError(.responseTooLarge, cause, mayHaveReachedServer: true))
    }
}
