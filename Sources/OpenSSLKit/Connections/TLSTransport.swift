// SPDX-License-Identifier: Apache-2.0
// Gatehouse

/// Where a ``TLSConnection`` takes ciphertext from and puts ciphertext to, without a copy in between.
///
/// Implementers keep two byte queues and nothing else: both functions are called from inside OpenSSL, so they must
/// return at once and must not call the connection. They run on the thread that called the connection.
public protocol TLSTransport: AnyObject {
    /// Lends at most `limit` of the next received bytes to `take` and forgets them; does not call it if there are none.
    func receive(upTo limit: Int, _ take: (RawSpan) -> Void)

    /// Appends bytes to those that are to be sent.
    func send(_ ciphertext: RawSpan)
}
