// SPDX-License-Identifier: Apache-2.0

internal import ServiceLifecycle
internal import Sessions

/// Waits for the end of a session, or for the shutdown of the server.
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

    /// Waits for the end of the session.
    ///
    /// Run it concurrently with the work that must end with the session.
    ///
    /// - Parameters:
    ///   - beat: Called every 15 seconds. A stream can use it to write something. The write fails if the client has
    ///     disconnected.
    ///   - action: Called when the session has ended, or when the shutdown of the server begins. Not called if the task
    ///     is cancelled.
    public func onEnd(beat: @Sendable () -> Void = {}, _ action: @Sendable () -> Void) async {
        await withGracefulShutdownHandler {
            for await event in events where event.event == .heartbeat { beat() }
        } onGracefulShutdown: {
            realms.close()
        }
        if !Task.isCancelled { action() }
    }
}
