import Dispatch
import Synchronization

/// What a closure that blocks makes of each element, in their order: each has a thread of its own, and all run at once. Blocks until the
/// last has ended, so it is for a few elements.
public func concurrentMap<Element: Sendable, Result: Sendable>(
    _ list: [Element],
    _ transform: @escaping @Sendable (Element) -> Result
) -> [Result] {
    let results = Mutex([Int: Result]())
    let group = DispatchGroup()
    for (index, element) in list.enumerated() {
        group.enter()
        DetachedThread.run {
            let result = transform(element)
            results.withLock { $0[index] = result }
            group.leave()
        }
    }
    group.wait()
    return results.withLock { results in list.indices.compactMap { results[$0] } }
}
