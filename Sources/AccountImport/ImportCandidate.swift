import Models

/// An account that may be imported, checked as far as possible without a database.
public struct ImportCandidate: Sendable {
    /// The maximum of identities of an account.
    public static let identitiesMax = 16
    /// The longest subject, in bytes (OpenID Connect Core, section 2).
    public static let subjectBytesMax = 255

    /// One of its identities.
    public struct Identity: Sendable {
        /// Our name of the provider.
        public let provider: String
        /// The identity in the source.
        public let told: ImportedIdentity
    }

    /// The line of its row.
    public let line: Int64
    /// The account of the other backend.
    public let account: ImportedAccount
    /// Its identities at known providers.
    public var identities: [Identity]
    /// Its name.
    public let displayName: DisplayName?
    /// Its username.
    public let username: Username?
    /// Its proven phone number.
    public let phone: PhoneNumber?
    /// The user's other ways to sign in at the source.
    public let otherWays: [String]
    /// Why parts of it are rejected.
    public var reasons: [ImportReason]

    /// Whether the user can sign in to it.
    public var isReachable: Bool { !identities.isEmpty || phone != nil }

    /// Checks an account.
    ///
    /// - Parameters:
    ///   - line: of its row.
    ///   - names: maps the source's provider names to ours.
    ///   - policy: which phone numbers are accepted.
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

/// The state in identity's database of the accounts of a batch.
public struct ImportFacts: Sendable {
    /// The state of a user id.
    public enum Standing: Sendable, Hashable {
        /// An account that was imported before.
        case imported
        /// An account of a user who signed up here.
        case native
        /// An account that was closed.
        case closed
    }

    /// A user at a provider.
    public struct Subject: Sendable, Hashable {
        /// The provider.
        public let provider: String
        /// The user's subject at the provider.
        public let subject: String

        /// A user at a provider.
        public init(provider: String, subject: String) {
            self.provider = provider
            self.subject = subject
        }
    }

    /// The states of the known ids.
    public var standings: [UserID: Standing] = [:]
    /// The accounts of the known subjects.
    public var holders: [Subject: UserID] = [:]

    /// No known ids and subjects.
    public init() {}
}

/// The decisions on a batch of accounts.
public struct ImportVerdicts: Sendable {
    /// Accounts to create.
    public var new: [ImportCandidate] = []
    /// Accounts that exist already; profile may not have all their data yet.
    public var there: [ImportCandidate] = []
    /// Accounts that no user can sign in to, and that aren't created.
    public var unreachable: [ImportCandidate] = []
    /// The rejections, with their rows.
    public var rejections: [(line: Int64, oldID: String, reason: ImportReason)] = []

    /// All accounts that exist after the batch, whether or not they did before.
    public var present: [ImportCandidate] { new + there }

    /// Decides, in the order of the rows: of two accounts with the same subject the first gets it, and of two with the same id the first
    /// counts.
    ///
    /// - Parameters:
    ///   - earlier: the accounts that exist from earlier batches.
    ///   - keepsUnreachable: whether to create accounts that no user can sign in to.
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
                // An account that was deleted at the source is not brought back.
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
