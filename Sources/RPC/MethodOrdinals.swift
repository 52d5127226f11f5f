import Synchronization

/// Numbers for the methods that this process knows, so that code that keeps a value for each method finds it by an index
/// and not by its name. Each path gets its number when its descriptor is first made. Any thread.
public enum MethodOrdinals {
    /// How many numbers there are: 0 to `max` − 1. 0 stands for every path that comes once the others are taken.
    public static let max = 256

    private struct State {
        var paths = ["other"]
        var ordinals: [String: Int] = [:]
    }
    private static let state = Mutex(State())

    /// The paths by their number; the first is `other`.
    public static var paths: [String] { state.withLock { $0.paths } }

    static func ordinal(of path: String) -> Int {
        state.withLock { state in
            if let known = state.ordinals[path] { return known }
            guard state.paths.count < max else { return 0 }
            state.ordinals[path] = state.paths.count
            state.paths.append(path)
            return state.paths.count - 1
        }
    }
}
