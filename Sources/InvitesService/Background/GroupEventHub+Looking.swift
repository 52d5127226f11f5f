import InvitesDomain
import Logging
import Models
import Synchronization

/// Looking for what has changed.
extension GroupEventHub {
    /// How often it is tried to read what those missed who come back.
    private static let catchUpTriesMax = 3
    /// How often the recipients of a single event are read before it is skipped for those of whom it can't be known.
    private static let triesAloneMax = 2
    /// Failing statements by which the recipients of that event are narrowed down.
    private static let narrowingFailuresMax = 16
    /// How often events can't be read before it is tried to begin anew behind them: enough to come down to a single one.
    private static let readTriesMax = 12

    /// Reads a page and delivers it; whether there is more to read at once.
    ///
    /// What is needed for that is read before anything is delivered: a failure changes nothing but how much the next look reads.
    func lookOnce() async -> Bool {
        let (known, size, beginnings) = state.withLock { ($0.known, $0.lookSize.count, $0.beginnings) }
        let page: GroupEventStore.Page
        do {
            page = try await store.page(after: known, limit: size)
        } catch {
            await cannotRead(error)
            return false
        }
        // Transactions have other numbers now.
        if known != nil, page.start == nil { resetAll(at: page.head, .database) }
        guard let recipients = await recipients(of: page) else { return false }
        let position = page.position(behind: page.entries.count)
        let begun = await caughtUp(
            state.withLock { $0.due(beginnings, at: position, page.head) },
            at: position,
            page.head
        )
        publish(page, recipients)
        let told = state.withLock { state in
            state.lookSize.succeeded(page.entries.count)
            state.behindSince = page.isFull ? state.behindSince ?? .now : nil
            return state.begin(begun, at: position)
        }
        for (stream, message) in told { tell(message, to: stream) }
        for reset in begun.compactMap(\.reset) { counts.count(reset) }
        return page.isFull
    }

    private func publish(_ page: GroupEventStore.Page, _ recipients: Recipients) {
        var start = 0
        repeat {
            var end = page.entries.count
            var published: GroupEventState.Published?
            while published == nil {
                published = state.withLock { state in
                    state.publish(
                        page.events(in: start..<end),
                        upTo: page.position(behind: end),
                        unresolved: recipients.unresolved,
                        recipients.audiences
                    )
                }
                if published == nil { end = start + max(1, (end - start) / 2) }
            }
            for (stream, message) in published?.messages ?? [] { tell(message, to: stream) }
            counts.count(.flood, published?.floodedCount ?? 0)
            counts.count(.unresolved, published?.unresolvedCount ?? 0)
            start = end
        } while start < page.entries.count
    }

    private func resetAll(at position: GroupPosition, _ reason: GroupEventReset) {
        let (told, count) = state.withLock { ($0.reset(at: position), $0.users.count) }
        logger.warning("all who watch groups begin anew", metadata: ["reason": "\(reason)", "watches": "\(count)"])
        for (stream, message) in told { tell(message, to: stream) }
        counts.count(reason, count)
    }

    // MARK: - Failures

    /// The log can't be read. If it can be read from now on but not from where it was read, all begin anew: what happened between is
    /// known of nobody.
    private func cannotRead(_ error: any Error) async {
        let reads = await failed(error) { size in
            size.failedToRead()
            return size.failedReads
        }
        guard reads > Self.readTriesMax, let page = try? await store.page(after: nil, limit: 0) else { return }
        resetAll(at: page.head, .unreadable)
        state.withLock { $0.lookSize.succeeded(0) }
    }

    /// Notes a failure, logs the first of several, and waits a moment.
    private func failed<Value: Sendable>(
        _ error: any Error,
        _ change: @Sendable (inout GroupEventBatchSize) -> Value
    ) async -> Value {
        let (isFirst, value) = state.withLock { state in
            state.behindSince = state.behindSince ?? .now
            let isFirst = !state.lookSize.isSearching
            return (isFirst, change(&state.lookSize))
        }
        if isFirst, !Task.isCancelled {
            logger.warning(
                "changes of groups can't be read, and are tried in smaller pages",
                metadata: ["cause": "\(error)"]
            )
        }
        try? await Task.sleep(for: limits.retryInterval)
        return value
    }

    /// Recipients of the events of a page.
    private struct Recipients {
        var audiences = GroupEventStore.Audiences()
        /// Users who watch and of whom it isn't known.
        var unresolved: [UserID] = []
    }

    /// The recipients of a page; nil if they can't be read and fewer events, or the same one again, are to be tried.
    private func recipients(of page: GroupEventStore.Page) async -> Recipients? {
        let (events, watching) = (page.events(in: page.entries.indices), state.withLock { $0.watching })
        do {
            return Recipients(audiences: try await store.audiences(of: events, watching: watching))
        } catch {
            let count = page.entries.count
            let tries = await failed(error) { size in
                size.failed(count)
                return size.failuresAlone
            }
            guard !Task.isCancelled, tries >= Self.triesAloneMax else { return nil }
            return await narrowed(events, page.entries, watching)
        }
    }

    /// The recipients of a single event that can't be read for all who watch: by fewer and fewer of them, until it is known for whom it can't.
    private func narrowed(
        _ events: [GroupEventStore.Event],
        _ entries: [GroupEventStore.Entry],
        _ watching: [UserID]
    ) async -> Recipients {
        var recipients = Recipients()
        var (parts, failures) = ([watching[...]], 0)
        while let part = parts.popLast() {
            do {
                recipients.audiences.merge(
                    try await store.audiences(of: events, watching: Array(part), isByUser: true)
                )
            } catch {
                failures += 1
                if part.count <= 1 || failures > Self.narrowingFailuresMax {
                    recipients.unresolved += part
                } else {
                    parts += [part.prefix(part.count / 2), part.dropFirst(part.count / 2)]
                }
            }
        }
        counts.countSkipped()
        logger.warning(
            "a change of a group is skipped: some who watch begin anew",
            metadata: [
                "row": "\(entries.first.map { "\($0.row.transaction):\($0.row.id)" } ?? "")",
                "users": "\(recipients.unresolved.count)",
            ]
        )
        return recipients
    }

    // MARK: - Those who come back

    /// What those missed who begin. It is their matter alone: if it can't be read they wait for the next look, and the others hear all
    /// the same.
    private func caughtUp(
        _ beginnings: [GroupEventState.Beginning],
        at now: GroupPosition,
        _ head: GroupPosition
    ) async -> [GroupEventState.Begun] {
        let kept = limits.kept.components.seconds
        var (watches, absent): ([GroupEventState.Watch], [GroupEventStore.Absent]) = ([], [])
        for beginning in beginnings {
            guard let point = beginning.point(at: head, keptSeconds: kept) else { continue }
            watches.append(beginning.watch)
            absent.append(GroupEventStore.Absent(userID: beginning.userID, point: point))
        }
        var missed: [[GroupChange]]?
        do {
            missed = try await store.missed(by: absent, until: now.point, limit: limits.missedMax)
            state.withLock { $0.failedCatchUps = 0 }
        } catch {
            let failures = state.withLock { state in
                state.failedCatchUps += 1
                return state.failedCatchUps
            }
            logger.warning(
                "what those missed who come back to watch groups can't be read",
                metadata: ["cause": "\(error)", "watches": "\(watches.count)"]
            )
            let waiting = Set(watches)
            if failures < Self.catchUpTriesMax {
                return begun(beginnings.filter { !waiting.contains($0.watch) }, [:])
            }
            // Not again and again in front of all others: they begin anew.
            state.withLock { $0.failedCatchUps = 0 }
        }
        return begun(
            beginnings,
            Dictionary(zip(watches, missed ?? [])) { first, _ in first },
            isUnreadable: missed == nil
        )
    }

    /// Those who begin, with what each missed; who was away and of whom that isn't known begins anew.
    private func begun(
        _ beginnings: [GroupEventState.Beginning],
        _ missedBy: [GroupEventState.Watch: [GroupChange]],
        isUnreadable: Bool = false
    ) -> [GroupEventState.Begun] {
        beginnings.map { beginning in
            let missed = missedBy[beginning.watch]
            let reset: GroupEventReset? =
                if let missed {
                    missed.count >= limits.missedMax ? .missed : nil
                } else {
                    beginning.wasAway ? (isUnreadable ? .unreadable : .position) : nil
                }
            return GroupEventState.Begun(
                beginning: beginning,
                reset: reset,
                changes: reset == nil ? GroupChangeSet(missed ?? []) : GroupChangeSet()
            )
        }
    }
}
