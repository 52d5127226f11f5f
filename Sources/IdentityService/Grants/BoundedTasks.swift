/// Performs work on each of the items, at most `atOnce` concurrently, and returns the results in no particular order.
func withEach<Item: Sendable, Outcome: Sendable>(
    of items: [Item],
    atOnce: Int,
    _ work: @escaping @Sendable (Item) async -> Outcome
) async -> [Outcome] {
    await withTaskGroup(of: Outcome.self) { tasks in
        var outcomes: [Outcome] = []
        for (index, item) in items.enumerated() {
            if index >= atOnce, let outcome = await tasks.next() { outcomes.append(outcome) }
            tasks.addTask { await work(item) }
        }
        for await outcome in tasks { outcomes.append(outcome) }
        return outcomes
    }
}
