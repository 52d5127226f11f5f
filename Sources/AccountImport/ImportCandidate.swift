import Models

/// An account that may come in: what can be said of it without asking a database.
public struct ImportCandidate: Sendable {
    /// The most identities that an account may have.
    public static let identitiesMax = 16
    /// The longest subject, in bytes (OpenID Connect Core, section 2).
    public static let subjectBytesMax = 255

    /// One of its identities.
    public struct Identity: Sendable {
        /// Our name of the provider.
        public let provider: String
        /// What else is known of it.
        public let told: ImportedIdentity
    }

    /// The line of its row.
    public let line: Int64
    /// The account as its backend had it.
    public let account: ImportedAccount
    /// Its identities at providers that there are.
    public var identities: [Identity]
    /// Its name.
    public let displayName: DisplayName?
    /// Its username.
    public let username: Username?
    /// Its proven number.
    public let phone: PhoneNumber?
    /// By what else its person came in.
    public let otherWays: [String]
    /// What doesn't come in.
    public var reasons: [ImportReason]

    /// Whether somebody can open it.
    public var isReachable: Bool { !identities.isEmpty || phone != nil }

    /// Looks at an account.
    ///
    /// - Parameters:
    ///   - line: of its row.
    ///   - names: what its providers are here.
    ///   - policy: which numbers are taken.
    public init(_ account: ImportedAccount, line: Int64, names: ProviderNames, policy: PhonePolicy) {
        self.line = line
        self.account = account
        var (reasons, identities, ways) = ([ImportReason](), [Identity](), account.otherWays)
        for told in account.identities {
            switch names.meaning(of: told.provider) {
            case .way(let way): if !ways.contains(way) { ways.append(way) }
            case .unknown: reasons.append(.providerUnknown(told.provider))
            case .provider(let provider):
                if !Self.isSubject(told.subject) {
                    reasons.append(.subjectInvalid(provider))
                } else if !identities.contains(where: { $0.provider == provider && $0.told.subject == told.subject }) {
                    identities.append(Identity(provider: provider, told: told))
                }
            }
        }
        if identities.count > Self.identitiesMax {
            identities.removeSubrange(Self.identitiesMax...)
            reasons.append(.identitiesTooMany)
        }
        self.identities = identities
        otherWays = ways
        displayName = account.names.lazy.compactMap { try? DisplayName($0) }.first
        if displayName == nil, !account.names.isEmpty { reasons.append(.displayNameInvalid) }
        username = account.username.flatMap { try? Username($0) }
        if username == nil, account.username != nil { reasons.append(.usernameInvalid) }
        do throws(PhoneNumber.Fault) {
            phone = try account.phone.map { text throws(PhoneNumber.Fault) in try PhoneNumber(text, policy: policy) }
        } catch {
            phone = nil
            switch error {
            case .kindNotAllowed, .regionNotAllowed: reasons.append(.phoneNotAllowed)
            case .notANumber, .notAssigned, .libraryFailed: reasons.append(.phoneInvalid)
            }
        }
        self.reasons = reasons
    }

    private static func isSubject(_ text: String) -> Bool {
        1...subjectBytesMax ~= text.utf8.count && text.unicodeScalars.allSatisfy { ImportedID.isKept($0) }
    }
}

/// What identity's database knows of the accounts of a batch.
public struct ImportFacts: Sendable {
    /// What is known of an id.
    public enum Standing: Sendable, Hashable {
        /// An account that came in before.
        case imported
        /// An account of somebody who signed up here.
        case native
        /// An account that was closed.
        case closed
    }

    /// A provider's person.
    public struct Subject: Sendable, Hashable {
        /// The provider.
        public let provider: String
        /// What it calls the person.
        public let subject: String

        /// A person.
        public init(provider: String, subject: String) {
            self.provider = provider
            self.subject = subject
        }
    }

    /// The ids that are known.
    public var standings: [UserID: Standing] = [:]
    /// Whose the subjects are that are known.
    public var holders: [Subject: UserID] = [:]

    /// Nothing known.
    public init() {}
}

/// What becomes of a batch of accounts.
public struct ImportVerdicts: Sendable {
    /// Those that are made now.
    public var new: [ImportCandidate] = []
    /// Those that are there already, of which profile may not know all.
    public var there: [ImportCandidate] = []
    /// Those that nobody can open, and which aren't made.
    public var unreachable: [ImportCandidate] = []
    /// What doesn't come in, and of which row.
    public var rejections: [(line: Int64, oldID: String, reason: ImportReason)] = []

    /// The accounts that are there now, whether or not they were before.
    public var present: [ImportCandidate] { new + there }

    /// Decides, in the order of the rows: of two that want the same subject the first has it, and of two with the same id the first counts.
    ///
    /// - Parameters:
    ///   - earlier: the accounts of the batches before that are there.
    ///   - keepsUnreachable: whether accounts are made that nobody can open.
    public init(
        _ candidates: [ImportCandidate],
        _ facts: ImportFacts,
        earlier: Set<UserID>,
        keepsUnreachable: Bool
    ) {
        let standings = facts.standings
        var (holders, seen) = (facts.holders, Set<UserID>())
        for var candidate in candidates {
            let userID = candidate.account.userID
            func reject(_ reason: ImportReason) {
                rejections.append((candidate.line, candidate.account.oldID, reason))
            }
            switch standings[userID] {
            case .native:
                reject(.accountExists)
                continue
            case .closed:
                reject(.accountClosed)
                continue
            case .imported, nil:
                // Whoever deleted it there is not brought back.
                if candidate.account.isDeleted {
                    reject(.accountDeleted)
                    continue
                }
            }
            if earlier.contains(userID) || seen.contains(userID) {
                reject(.rowRepeated)
                continue
            }
            var taken: [ImportReason] = []
            candidate.identities.removeAll { identity in
                let subject = ImportFacts.Subject(provider: identity.provider, subject: identity.told.subject)
                guard let holder = holders[subject], holder != userID else { return false }
                taken.append(.subjectTaken(identity.provider))
                return true
            }
            candidate.reasons += taken
            for reason in candidate.reasons { reject(reason) }
            if standings[userID] == .imported {
                there.append(candidate)
                seen.insert(userID)
            } else if candidate.isReachable || keepsUnreachable {
                new.append(candidate)
                seen.insert(userID)
                for identity in candidate.identities {
                    holders[.init(provider: identity.provider, subject: identity.told.subject)] = userID
                }
            } else {
                unreachable.append(candidate)
            }
        }
    }
}
