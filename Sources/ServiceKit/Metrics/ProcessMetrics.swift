import Glibc

/// The process as the system sees it, under the names that all Prometheus clients use, and what was built.
struct ProcessMetrics: MetricsSource {
    let program: String

    /// Bytes of a file of `/proc` that are read.
    private static let bytesMax = 65_536

    func write(to text: inout MetricsText) {
        text.family(
            "vestibule_build_info",
            .gauge,
            help: "Always 1; its labels say what was built and how.",
            [([("program", program), ("version", ProgramVersion.current), ("mode", ProgramVersion.mode)], 1)]
        )
        if let isSynchronized = SystemClock.isSynchronized {
            text.single(
                "vestibule_clock_synchronized",
                .gauge,
                help: "Whether the system says that NTP, or the like of it, keeps its clock right: 1 or 0.",
                isSynchronized ? 1 : 0
            )
        }
        if let process = ProcessStatistics(own: Self.words("/proc/self/stat")) { write(process, to: &text) }
        if let count = Self.openFileCount() {
            text.single("process_open_fds", .gauge, help: "Open file descriptors.", Double(count))
        }
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            text.single("process_max_fds", .gauge, help: "Most open file descriptors.", Double(limit.rlim_cur))
        }
    }

    private func write(_ process: ProcessStatistics, to text: inout MetricsText) {
        let ticks = Double(sysconf(Int32(_SC_CLK_TCK)))
        let page = Double(sysconf(Int32(_SC_PAGESIZE)))
        text.single(
            "process_cpu_seconds_total",
            .counter,
            help: "Processor time, of the process and of the system for it.",
            Double(process.processorTicks) / ticks
        )
        text.single(
            "process_resident_memory_bytes",
            .gauge,
            help: "Memory that is resident.",
            Double(process.residentPages) * page
        )
        text.single(
            "process_virtual_memory_bytes",
            .gauge,
            help: "Memory that is mapped.",
            Double(process.virtualBytes)
        )
        text.single("process_threads", .gauge, help: "Threads.", Double(process.threadCount))
        let boot = Self.words("/proc/stat").split(separator: "btime").dropFirst().first?.first.flatMap(Double.init)
        if let boot {
            text.single(
                "process_start_time_seconds",
                .gauge,
                help: "When the process began, in seconds since 1970.",
                boot + Double(process.startTicks) / ticks
            )
        }
    }

    private static func words(_ path: String) -> [Substring] {
        guard let bytes = try? FileBytes.read(path, bytesMax: bytesMax) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace }
    }

    private static func openFileCount() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while let entry = readdir(folder) {
            if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
        }
        return count - 1  // but for the one that reads the folder
    }
}
