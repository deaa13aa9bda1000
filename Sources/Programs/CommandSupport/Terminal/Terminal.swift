// SPDX-License-Identifier: Apache-2.0

internal import Glibc
package import RealmKit

/// The controlling terminal of the process; standard input and output may be other files.
@safe package struct Terminal: ~Copyable {
    /// The maximum length of a line in bytes.
    package static let maximumLine = 4096

    private let descriptor: Int32

    /// Opens the terminal; nil if the process has no terminal.
    package init?() {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    /// Writes text, with control characters replaced.
    package func show(_ text: String) { Output.writeBytes(Array(Printable.text(text).utf8), to: descriptor) }

    /// Prompts for a line and reads it without echo; nil after an end of file or an interrupt, or if it is too long.
    ///
    /// The echo is turned off before the prompt is shown: a program that types its answer as soon as it sees the prompt
    /// would otherwise be echoed. The line editing and the signals of the terminal are also turned off, so that Ctrl-C
    /// cannot end the process while the echo is off. A typed Ctrl-C or Ctrl-\ becomes a signal to the process after the
    /// terminal is restored.
    package func readSecret(_ prompt: String = "", until interrupt: InputInterrupt? = nil) -> Secret? {
        var typed: Int32 = 0
        let secret = readWithoutEcho(prompt, until: interrupt, typedSignal: &typed)
        // `raise` would send the signal to this thread, which does not handle signals.
        if typed != 0 {
            kill(getpid(), typed)
            // Another thread receives the signal. Without a wait this one could end the process first, with another status.
            usleep(500_000)
        }
        return secret
    }

    private func readWithoutEcho(
        _ prompt: String,
        until interrupt: InputInterrupt?,
        typedSignal: inout Int32
    ) -> Secret? {
        var before = termios()
        guard unsafe tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        let signals = TerminalGuard(descriptor, restoring: before)
        defer {
            unsafe tcsetattr(descriptor, TCSAFLUSH, &before)
            signals.release()
            show("\n")
        }
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        show(prompt)
        var line = LineBuffer(capacity: Self.maximumLine)
        while let byte = LineInput.nextByte(of: descriptor, until: interrupt) {
            switch byte {
            case 0x0A, 0x0D: return line.secret()
            case 0x03, 0x1C:
                typedSignal = byte == 0x03 ? SIGINT : SIGQUIT
                return nil
            case 0x04: return line.isEmpty ? nil : line.secret()
            case 0x08, 0x7F: line.removeLastCharacter()
            case 0x15: line.clear()
            // Ctrl-Z is ignored: it would stop the process while the echo is off, and the shell would have no echo.
            case 0x1A: continue
            default: if !line.append(byte) { return nil }
            }
        }
        return nil
    }

    /// Prompts for a line, and reads it with echo and the line editing of the terminal, without white space at its ends; nil
    /// at the end of the file, or if the line is too long or is not UTF-8.
    package func readLine(_ prompt: String) -> String? {
        // Input that was typed before the question must not answer it.
        tcflush(descriptor, TCIFLUSH)
        show(prompt)
        var line: [UInt8] = []
        while let byte = LineInput.nextByte(of: descriptor, until: nil) {
            if byte == 0x0A || byte == 0x0D {
                while let last = line.last, last == 0x20 || last == 0x09 { line.removeLast() }
                return String(validating: line.drop { $0 == 0x20 || $0 == 0x09 }, as: UTF8.self)
            }
            guard line.count < Self.maximumLine else { return nil }
            line.append(byte)
        }
        return nil
    }
}

/// Restores the echo of the terminal if a signal ends the process while a password is typed.
struct TerminalGuard {
    // These variables are written only while no handler is installed. A handler reads them and ends the process.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var before = termios()
    private static let ending = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGABRT, SIGUSR1, SIGUSR2]

    private var earlier: [(number: Int32, handler: sighandler_t?)] = []

    /// Installs handlers for the signals that end a process, and ignores SIGTSTP, until ``release()``.
    init(_ descriptor: Int32, restoring before: termios) {
        unsafe Self.descriptor = descriptor
        unsafe Self.before = before
        for number in Self.ending {
            let handler = signal(number) { number in
                unsafe tcsetattr(TerminalGuard.descriptor, TCSANOW, &TerminalGuard.before)
                _exit(128 + number)
            }
            earlier.append((number, handler))
        }
        earlier.append((SIGTSTP, signal(SIGTSTP, SIG_IGN)))
    }

    func release() {
        for (number, handler) in earlier { signal(number, handler) }
    }
}
