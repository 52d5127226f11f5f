import Foundation

/// A pipe whose ends children don't inherit unless requested.
struct ProcessPipe {
    let readEnd: Int32
    let writeEnd: Int32

    init() throws(StackError) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StackError("pipe: \(String(cString: strerror(errno)))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (readEnd, writeEnd) = (ends[0], ends[1])
    }
}
