/// What ``UserID`` is an id of: a person's account.
public enum UserTag {}
/// What ``SessionID`` is an id of: one sign-in on one device.
public enum SessionTag {}
/// What ``GroupID`` is an id of: a set of people.
public enum GroupTag {}
/// What ``MemberID`` is an id of: one person's place in one group.
public enum MemberTag {}
/// What ``PasskeyID`` is an id of: one credential of an account.
public enum PasskeyTag {}
/// What ``EventID`` is an id of: something that one service tells another, to be applied once.
public enum EventTag {}

/// The id of a person's account.
public typealias UserID = Identifier<UserTag>
/// The id of one sign-in on one device.
public typealias SessionID = Identifier<SessionTag>
/// The id of a group.
public typealias GroupID = Identifier<GroupTag>
/// The id of one person's place in one group; it stays the same when a pending member becomes a member.
public typealias MemberID = Identifier<MemberTag>
/// The id of a passkey, as people and apps name it. No authenticator knows it.
public typealias PasskeyID = Identifier<PasskeyTag>
/// The id of an event between services, by which the receiver knows that it has applied it.
public typealias EventID = Identifier<EventTag>
