// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import ServiceLifecycle
internal import Sessions

/// Tells when a session ends, by whatever cause, or the server is about to stop.
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

    /// Waits for the end; to be run beside what has to end then.
    ///
    /// - Parameters:
    ///   - beat: Called every 15 seconds, for streams that would otherwise not notice that nobody reads them.
    ///   - action: Called when the end has come, and not if the task is cancelled before.
    public func onEnd(beat: @Sendable () -> Void = {}, _ action: @Sendable () -> Void) async {
        await withGracefulShutdownHandler {
            for await event in events where event.event == .heartbeat { beat() }
        } onGracefulShutdown: {
            realms.close()
        }
        if !Task.isCancelled { action() }
    }
}
