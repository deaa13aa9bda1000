// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ServiceLifecycle
internal import Sessions

/// Waits until a session ends, for any cause, or the server begins to stop.
///
/// ```swift
/// let watch = try realms.watch(session)
/// return Response(status: .ok, body: ResponseBody { writer in
///     async let _ = watch.onEnd { messages.finish() }
///     for await message in messages { try await writer.write(message) }
///     try await writer.finish(nil)
/// })
/// ```
public struct SessionWatch: Sendable {
    let realms: Realms
    let events: SessionEvents

    /// Waits for the end of the session; run it concurrently with the work that must end with the session.
    ///
    /// - Parameters:
    ///   - beat: Called every 15 seconds, so that a stream can write something and detect a client that has gone.
    ///   - action: Called when the session has ended or the server begins to stop; not called if the task is cancelled.
    public func onEnd(beat: @Sendable () -> Void = {}, _ action: @Sendable () -> Void) async {
        await withGracefulShutdownHandler {
            for await event in events where event.event == .heartbeat { beat() }
        } onGracefulShutdown: {
            realms.close()
        }
        if !Task.isCancelled { action() }
    }
}
