// SPDX-License-Identifier: Apache-2.0
// Gatehouse

internal import Glibc
internal import RealmKit

/// The person's terminal, whatever standard input and output are.
@safe struct Terminal: ~Copyable {
    /// Longer lines are refused.
    static let maximumLine = 4096

    private let descriptor: Int32

    /// Opens it; nil if the process has none.
    init?() {
        let descriptor = unsafe open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        self.descriptor = descriptor
    }

    deinit { close(descriptor) }

    func show(_ text: String) {
        Output.writeBytes(Array(Printable.text(text).utf8), to: descriptor)
    }

    /// Reads a line without showing it.
    ///
    /// The terminal's own editing and its signals are off meanwhile, so that no interrupt can leave it silent; an interrupt
    /// that was typed is delivered when it is as it was before.
    ///
    /// - Returns: The line; nil if it was ended by an end of file, or is too long.
    func readSecret() -> Secret? {
        var typed: Int32 = 0
        let secret = readSilently(&typed)
        // To the process: the thread that reads does not take signals.
        if typed != 0 { kill(getpid(), typed) }
        return secret
    }

    private func readSilently(_ typedSignal: inout Int32) -> Secret? {
        var before = termios()
        guard unsafe tcgetattr(descriptor, &before) == 0 else { return nil }
        var silent = before
        silent.c_lflag &= ~tcflag_t(ECHO | ECHONL | ICANON | ISIG | IEXTEN)
        let signals = TerminalGuard(descriptor, before)
        defer {
            unsafe tcsetattr(descriptor, TCSAFLUSH, &before)
            signals.release()
            show("\n")
        }
        guard unsafe tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else { return nil }
        var line = LineBuffer(capacity: Self.maximumLine)
        while let byte = nextByte() {
            switch byte {
            case 0x0A, 0x0D: return line.secret()
            case 0x03, 0x1C:
                typedSignal = byte == 0x03 ? SIGINT : SIGQUIT
                return nil
            case 0x04: return line.isEmpty ? nil : line.secret()
            case 0x08, 0x7F: line.removeLastCharacter()
            case 0x15: line.clear()
            // A stop would leave the shell without echo; it can wait until the line is there.
            case 0x1A: continue
            default: if !line.append(byte) { return nil }
            }
        }
        return nil
    }

    private func nextByte() -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = unsafe read(descriptor, &byte, 1)
            if count == 1 { return byte }
            if count < 0, errno == EINTR { continue }
            return nil
        }
    }
}

/// Bytes of a line on their way into a ``Secret``; never grown, wiped at the end.
@safe struct LineBuffer: ~Copyable {
    private let storage: UnsafeMutableBufferPointer<UInt8>
    private var count = 0

    init(capacity: Int) {
        unsafe storage = .allocate(capacity: capacity)
        unsafe storage.initialize(repeating: 0)
    }

    deinit {
        if let base = unsafe storage.baseAddress { unsafe explicit_bzero(base, storage.count) }
        unsafe storage.deallocate()
    }

    var isEmpty: Bool { count == 0 }

    /// Adds a byte; false if there is no room.
    mutating func append(_ byte: UInt8) -> Bool {
        guard unsafe count < storage.count else { return false }
        unsafe storage[count] = byte
        count += 1
        return true
    }

    /// Takes back the last character, all its bytes.
    mutating func removeLastCharacter() {
        while count > 0 {
            count -= 1
            if unsafe storage[count] & 0xC0 != 0x80 { return }
        }
    }

    mutating func clear() { count = 0 }

    var endsWithCarriageReturn: Bool { unsafe count > 0 && storage[count - 1] == 0x0D }

    func secret() -> Secret {
        unsafe Secret(UnsafeMutableBufferPointer(rebasing: storage[..<count]))
    }
}

/// Gives the terminal its echo back when the process is told to end while a password is being typed.
struct TerminalGuard {
    // Written only while no handler is installed; a handler reads them and ends the process.
    private nonisolated(unsafe) static var descriptor: Int32 = -1
    private nonisolated(unsafe) static var before = termios()
    private static let ending = [SIGTERM, SIGHUP, SIGINT, SIGQUIT, SIGALRM, SIGPIPE, SIGABRT, SIGUSR1, SIGUSR2]

    private var earlier: [(number: Int32, handler: sighandler_t?)] = []

    /// Watches from now on; a stop from the keyboard or from elsewhere waits until ``release()``.
    init(_ descriptor: Int32, _ before: termios) {
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

    /// Puts back what was done on these signals before.
    func release() {
        for (number, handler) in earlier { signal(number, handler) }
    }
}
