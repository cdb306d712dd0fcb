package stoa;

/// Where the calls on a shared object execute, see [Shared#placement()].
public enum Placement {
  /// In the store, on every replica, in one order; durable before they are answered.
  SERVER,
  /// At the client that calls (self-service, section 3): the object migrates to it, and stays until
  /// another one wants it. The store sees the states that come of calls, never their arguments.
  /// Calls on one object happen one after the other wherever they execute, and see each other's
  /// changes. A call is answered before it is durable: it is after a [Stoa#flush()], when its
  /// client has left, by [Stoa#close()], or at the latest when another one's is that has seen it.
  /// When a client vanishes, or nothing is heard of it for some seconds, what it did and was not
  /// durable may be lost, together with all that nobody else has seen of it; in the second case it
  /// is told by [UnknownOutcome]. Its objects go on elsewhere from the newest copies that are left,
  /// and it changes nothing of that when it comes back. When a server fails, they go on from what
  /// is durable.
  ///
  /// How long methods run at a client, nobody limits: neither [Limits#callTimeMax()] nor
  /// [Stoa#within]; whoever waits meanwhile for the object is told [DeadlineExceeded] after the
  /// former.
  ///
  /// The history of such an object ([Stoa#history]) is of states, each of which came of one or more
  /// calls. The placement of a class may be changed when the store is opened again: states and
  /// calls that are in the log count either way. A server and its clients must agree on it.
  ///
  /// Accessors see all calls that ended before, unless a view says otherwise: [View.Client] with
  /// [Reads#LOCAL] answers from the newest copy that is at the client, [View.Local] and
  /// [View.Cached] from what is durable.
  ///
  /// Such objects take no part in transactions and in calls of other objects' methods;
  /// [Stoa#together] is for several of them, of one [Shared#domain()], whose methods may call each
  /// other there. What their methods call of [#SERVER] objects is a call of its own, which is made
  /// again when the method is, because its client was disconnected meanwhile. A deletion is durable
  /// when [Stoa#delete] returns, and everybody whose accessors see all calls is told [Gone] from
  /// then on. [Stoa#find] and [Stoa#list] know of an object when it is durable. Calls of a client
  /// that is [Membership.Outside], and those that are made on a store in this process, execute
  /// where the store is, and are durable before they are answered.
  CLIENT,
  /// Where it costs less: as [#SERVER] or as [#CLIENT], which may change while the object is used.
  /// It follows from how long its methods compute, how large its state is, and how often which
  /// members of the tree call it. Accessors do not count for that, nor do calls of others when
  /// there are such members. What is said of [#CLIENT] holds, but that calls may also be durable
  /// when they are answered, and that their arguments may come into the store's log.
  ///
  /// A client of a server takes part as a node of the tree, see [Membership]; the calls of one that
  /// is [Membership.Outside] execute at the server. Accessors see all calls that ended before,
  /// whatever a view says. Do not choose it for methods whose arguments must stay where they are,
  /// or that call other objects: at the server such a call is part of theirs.
  AUTO
}
