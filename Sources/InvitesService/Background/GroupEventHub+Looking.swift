import InvitesDomain
import Logging
import Models
import Synchronization

/// Looking for changes.
extension GroupEventHub {
    /// How often the missed events of reconnecting subscribers are tried to be read.
    private static let catchUpTriesMax = 3
    /// How often the recipients of a single event are read before it is skipped for users for whom they can't be read.
    private static let triesAloneMax = 2
    /// The maximum of failing statements that narrow down the recipients of that event.
    private static let narrowingFailuresMax = 16
    /// How often reading events may fail before the log is skipped to its current end: enough to reach a single event.
    private static let readTriesMax = 12

    /// Reads a page and delivers it. Returns whether there is more to read at once.
    ///
    /// Everything needed is read before anything is delivered: a failure only changes how much the next look reads.
    func lookOnce() async -> Bool {
        let (known, size, beginnings) = state.withLock { ($0.known, $0.lookSize.count, $0.beginnings) }
        let page: GroupLogPage
        do {
            page = try await store.log.page(after: known, limit: size)
        } catch {
            await cannotRead(error)
            return false
        }
        // Transaction numbers have changed.
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

    private func publish(_ page: GroupLogPage, _ recipients: Recipients) {
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

    /// Handles a log that can't be read. If it can be read from now on but not from the known position, all begin anew: nobody knows what
    /// happened in between.
    private func cannotRead(_ error: any Error) async {
        let reads = await failed(error) { size in
            size.failedToRead()
            return size.failedReads
        }
        guard reads > Self.readTriesMax, let page = try? await store.log.page(after: nil, limit: 0) else { return }
        resetAll(at: page.head, .unreadable)
        state.withLock { $0.lookSize.succeeded(0) }
    }

    /// Records a failure, logs the first of several, and waits a moment.
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

    /// The recipients of the events of a page.
    private struct Recipients {
        var audiences = GroupEventStore.Audiences()
        /// Subscribers for whom it is unknown whether they are recipients.
        var unresolved: [UserID] = []
    }

    /// The recipients of a page; nil if they can't be read and the caller should try fewer events, or the same one again.
    private func recipients(of page: GroupLogPage) async -> Recipients? {
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

    /// The recipients of a single event that can't be read for all subscribers at once: asks about ever fewer users, until it is known for
    /// whom it fails.
    private func narrowed(
        _ events: [GroupEventStore.Event],
        _ entries: [GroupLogPage.Entry],
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
                "row": "\(entries.first?.key ?? "")",
                "users": "\(recipients.unresolved.count)",
            ]
        )
        return recipients
    }

    // MARK: - Reconnecting subscribers

    /// Reads what the beginning subscribers missed. A failure concerns only them: they wait for the next look, and the others get their
    /// events all the same.
    private func caughtUp(
        _ beginnings: [GroupEventState.Beginning],
        at now: GroupPosition,
        _ head: GroupPosition
    ) async -> [GroupEventState.Begun] {
        let kept = limits.kept.components.seconds
        var (watches, absent): ([GroupEventState.Watch], [AbsentSubscriber]) = ([], [])
        for beginning in beginnings {
            guard let place = beginning.place(at: head, keptSeconds: kept) else { continue }
            watches.append(beginning.watch)
            absent.append(AbsentSubscriber(userID: beginning.userID, place: place))
        }
        var missed: [[GroupChange]]?
        do {
            missed = try await store.log.missed(by: absent, until: now.place, limit: limits.missedMax)
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
            // Don't block all others again and again: they begin anew.
            state.withLock { $0.failedCatchUps = 0 }
        }
        return begun(
            beginnings,
            Dictionary(zip(watches, missed ?? [])) { first, _ in first },
            isUnreadable: missed == nil
        )
    }

    /// The beginning subscriptions, with what each missed; a subscriber who was away and whose missed events are unknown begins anew.
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
