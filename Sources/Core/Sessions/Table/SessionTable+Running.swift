// SPDX-License-Identifier: Apache-2.0

internal import OpenSSLKit
internal import RealmKit
internal import Synchronization

extension SessionTable {
    /// One second, in nanoseconds, after which expired sessions end, clients are warned, and commands are read.
    static let interval: UInt64 = 1_000_000_000
    /// The number of intervals between two writes of the times of uses, and between two heartbeats.
    static let intervalsBetweenTouches = 15

    /// Runs the background work of the table until the task is cancelled, and then stores the remaining changes.
    ///
    /// It ends expired sessions, warns clients, sends heartbeats, stores the times of uses, and carries out the
    /// commands of other programs. Only one task may call it. `onError` is called when the store begins to fail; failed
    /// writes are repeated every second.
    package func run(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.runMemory() }
            // Expiry has its own loop, so that a store that hangs cannot prevent sessions from ending.
            if store != nil { group.addTask { await self.runStore(onError: onError) } }
        }
    }

    /// Ends expired sessions, and warns the clients of those that will expire.
    func sweep() {
        let now = clocks.now
        publish(state.withLock { $0.sweep(at: now) })
    }

    private func runMemory() async {
        var count = 0
        while await waitForInterval() {
            sweep()
            count += 1
            if count % Self.intervalsBetweenTouches == 0 { sendHeartbeats() }
        }
    }

    private func runStore(onError: @escaping @Sendable (SessionStoreError) -> Void) async {
        var isFailing = false
        var count = 0
        func report(_ error: SessionStoreError?) {
            if let error, !isFailing { onError(error) }
            isFailing = error != nil
        }
        while await waitForInterval() {
            count += 1
            let storingTouches = isFailing || count % Self.intervalsBetweenTouches == 0
            // A separate task: a store may reject the calls of a cancelled one, which would be reported as its error.
            report(await Task { await self.updateStore(storingTouches: storingTouches) }.value)
        }
        report(await Task { await self.updateStore(storingTouches: true) }.value)
    }

    private func updateStore(storingTouches: Bool) async -> SessionStoreError? {
        do throws(SessionStoreError) {
            try await processCommandsAndRemovals()
            if storingTouches { try await storeTouches() }
            return nil
        } catch {
            return error
        }
    }

    /// Waits for one interval; false when the task is cancelled.
    private func waitForInterval() async -> Bool {
        do throws(CancellationError) {
            try await clocks.clock.sleep(until: clocks.clock.now &+ Self.interval)
            return !Task.isCancelled
        } catch {
            return false
        }
    }

    func processCommandsAndRemovals() async throws(SessionStoreError) {
        var fault: SessionStoreError?
        do throws(SessionStoreError) {
            try await processCommands()
        } catch {
            // Ended sessions are still removed if the commands cannot be read.
            fault = error
        }
        try await removeAllDue()
        if let fault { throw fault }
    }

    private func processCommands() async throws(SessionStoreError) {
        guard let store else { return }
        // The last call confirms the commands of the calls before it.
        while true {
            let last = state.withLock { $0.writes.lastCommand }
            let commands = try await store.sessionCommands(after: last)
            guard let first = commands.first, let newest = commands.last else { return }
            if first.number > last + 1 {
                // Some commands were deleted before they were read, perhaps one to end all sessions.
                end(.administrator) { _ in true }
            }
            for command in commands { carryOut(command.action) }
            state.withLock { $0.writes.lastCommand = newest.number }
        }
    }

    private func removeAllDue() async throws(SessionStoreError) {
        guard store != nil else { return }
        var fault: SessionStoreError?
        for batch in SessionTouch.batches(state.withLock { $0.writes.due }) {
            guard let error = await removal(of: batch).value else { continue }
            // If the ends cannot be recorded either, both attempts are repeated every second.
            _ = await recordEnds(of: batch)
            fault = error
        }
        if let fault { throw fault }
    }

    private func carryOut(_ action: SessionCommand.Action) {
        switch action {
        case .end(.one(let id)):
            // If only the child session ended, the browser would get another one from the sign-in host.
            let id = session(id: id)?.signIn.id ?? id
            end(.administrator) { $0.id == id }
        case .end(let selection): end(.administrator) { selection.includes($0.id, of: $0.user) }
        case .message(.one(let id), let text):
            // All pages of a sign-in get the message, also if the ID is that of a child session.
            guard let session = session(id: id) else { return }
            for session in family(of: session) { send(text, to: session) }
        case .message(let selection, let text):
            for session in sessions where selection.includes(session.id, of: session.user) {
                for session in family(of: session) { send(text, to: session) }
            }
        }
    }

    func storeTouches() async throws(SessionStoreError) {
        guard let store else { return }
        let (now, wall) = (clocks.now, clocks.wall.seconds)
        let touched = state.withLock { state in
            let touched = state.writes.takeTouched()
            return state.writes.wallClockWasSet(at: now, wall: wall) ? state.entries.values.map(\.session) : touched
        }
        var rest = touched[...]
        while !rest.isEmpty {
            do throws(SessionStoreError) {
                try await store.touchSessions(rest.prefix(SessionTouch.batch).filter { $0.end == nil }.map(\.touch))
            } catch {
                let missed = rest
                state.withLock { state in
                    for session in missed { state.writes.touch(session) }
                }
                throw error
            }
            rest = rest.dropFirst(SessionTouch.batch)
        }
    }
}

extension Session {
    var record: SessionRecord {
        let touch = touch
        return SessionRecord(
            id,
            token: token,
            user: user,
            host: host,
            parent: parent?.id,
            client: client,
            created: created,
            lastSeen: touch.lastSeen,
            idleExpiry: touch.idleExpiry,
            absoluteExpiry: touch.absoluteExpiry,
            stamp: stamp
        )
    }

    var touch: SessionTouch {
        SessionTouch(id: id, lastSeen: lastSeen, idleExpiry: idleExpiry, absoluteExpiry: absoluteExpiry)
    }
}
