import CCrash
import Glibc

/// Has a crash of this process reported: by a log line with the methods and request ids in flight, and by a report file.
package enum CrashReporter {
    /// Has crashes reported from now on. Call it once a process, before event loops start.
    ///
    /// - Parameters:
    ///   - program: the name in the log line.
    ///   - version: the program's version.
    ///   - logDescriptor: where the log line goes.
    ///   - writesJSON: whether the line is JSON, or text.
    ///   - reportPath: the report's file, which must not exist; nil for none.
    /// - Throws: the error of the system call that failed; ENAMETOOLONG for a path of 1 KiB or more.
    package static func install(
        program: String,
        version: String,
        logDescriptor: Int32,
        writesJSON: Bool,
        reportPath: String?
    ) throws(TransportError) {
        func install(_ path: UnsafePointer<CChar>?) -> Int32 {
            program.withCString { program in
                version.withCString { version in
                    var options = ccrash_options()
                    options.program = program
                    options.version = version
                    options.log_descriptor = logDescriptor
                    options.writes_json = writesJSON
                    options.report_path = path
                    return ccrash_install(&options)
                }
            }
        }
        let status = reportPath.map { $0.withCString { install($0) } } ?? install(nil)
        guard status == 0 else { throw TransportError.system(errno, "crash reports") }
    }
}
