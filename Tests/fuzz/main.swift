// SPDX-License-Identifier: Apache-2.0

// Fuzzing of the parsers with libFuzzer; `make fuzz` builds this program with the flag FUZZING.
//
//     fuzz PARSER [OPTIONS OF LIBFUZZER] [FOLDER OR FILE...]
//
// Without the flag the program only parses the files.

import Foundation

let arguments = CommandLine.arguments
guard FuzzedParser.chosen != nil else {
    print("usage: fuzz PARSER ...\nparsers: \(FuzzedParser.all.map { $0.name }.joined(separator: " "))")
    exit(64)
}

#if FUZZING

typealias FuzzedFunction = @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt

@_extern(c, "LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ function: FuzzedFunction
) -> CInt

// libFuzzer reads the arguments without the name of the parser. They live as long as the process.
let rest = [arguments[0]] + arguments.dropFirst(2)
var texts = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: rest.count + 1)
for (index, text) in rest.enumerated() { unsafe texts[index] = strdup(text) }
unsafe texts[rest.count] = nil
var count = CInt(rest.count)
let status = unsafe runFuzzer(&count, &texts) { bytes, count in
    let input = unsafe Array(UnsafeBufferPointer(start: bytes, count: count))
    FuzzedParser.chosen?.parse(input)
    return 0
}
exit(status)

#else

for path in arguments.dropFirst(2) {
    FuzzedParser.chosen?.parse(Array(try Data(contentsOf: URL(fileURLWithPath: path))))
}

#endif
