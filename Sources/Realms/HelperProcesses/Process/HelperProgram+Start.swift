// SPDX-License-Identifier: Apache-2.0

internal import CHelperSpawn
internal import Glibc

/// A list of C strings that ends with a null pointer.
@safe
private struct CStrings: ~Copyable {
    let pointers: UnsafeMutablePointer<UnsafePointer<CChar>?>
    private let count: Int

    init(_ texts: [String]) {
        count = texts.count
        unsafe pointers = .allocate(capacity: count + 1)
        for (index, text) in texts.enumerated() {
            unsafe (pointers + index).initialize(to: UnsafePointer(strdup(text)))
        }
        unsafe (pointers + count).initialize(to: nil)
    }

    deinit {
        for index in 0..<count { unsafe free(UnsafeMutableRawPointer(mutating: pointers[index])) }
        unsafe pointers.deallocate()
    }
}

extension HelperProgram {
    /// Starts the program.
    ///
    /// - Parameter descriptors: The descriptors of the child from number 0 on.
    /// - Returns: The process and its pidfd.
    /// - Throws: ``HelperFault`` with code `cannotStart`.
    func spawn(_ descriptors: [Descriptor]) throws(HelperFault) -> (process: pid_t, pidfd: Descriptor) {
        guard !([path] + arguments + environment).contains(where: { $0.utf8.contains(0) }) else {
            throw HelperFault(.cannotStart, "\(path): an argument contains the character NUL")
        }
        let arguments = CStrings([path] + arguments)
        let environment = CStrings(environment)
        let numbers = descriptors.map(\.number)
        let groups = account?.groups ?? []
        var result = gatehouse_spawn_result()
        var error: Int32 = 0
        unsafe path.withCString { path in
            unsafe folder.withCString { folder in
                unsafe numbers.withUnsafeBufferPointer { numbers in
                    unsafe groups.withUnsafeBufferPointer { groups in
                        var request = unsafe gatehouse_spawn_request()
                        unsafe request.program = path
                        unsafe request.arguments = UnsafePointer(arguments.pointers)
                        unsafe request.environment = UnsafePointer(environment.pointers)
                        unsafe request.folder = folder
                        unsafe request.descriptors = numbers.baseAddress
                        unsafe request.descriptor_count = numbers.count
                        unsafe request.data_bytes = memory
                        unsafe request.file_bytes = fileSize
                        unsafe request.open_files = openFiles
                        if let account, account.isOther {
                            unsafe request.changes_user = true
                            unsafe request.user = account.user
                            unsafe request.group = account.group
                            unsafe request.groups = groups.baseAddress
                            unsafe request.group_count = groups.count
                        }
                        unsafe request.no_new_privileges = forbidsNewPrivileges
                        unsafe error = gatehouse_spawn(&request, &result)
                    }
                }
            }
        }
        // The descriptors are open until the child has its copies.
        withExtendedLifetime(descriptors) {}
        extendLifetime(arguments)
        extendLifetime(environment)
        guard error == 0 else {
            let step = Self.name(of: result.failed_step)
            throw .system("\(self.path): \(step)", number: error)
        }
        return (result.process, Descriptor(result.descriptor))
    }

    private static func name(of step: gatehouse_spawn_step) -> String {
        switch step {
        case GATEHOUSE_SPAWN_SESSION: "cannot create a session"
        case GATEHOUSE_SPAWN_DESCRIPTORS: "cannot pass the descriptors"
        case GATEHOUSE_SPAWN_LIMITS: "cannot set the limits"
        case GATEHOUSE_SPAWN_USER: "cannot change the user"
        case GATEHOUSE_SPAWN_PRIVILEGES: "cannot drop privileges"
        case GATEHOUSE_SPAWN_FOLDER: "cannot change to the working folder"
        case GATEHOUSE_SPAWN_EXECUTE: "cannot be executed"
        default: "cannot start a process"
        }
    }
}
