package stoa;

/// Where calls on a shared object execute, see [Shared#placement()].
public enum Placement {
  /// In the store, on every replica, in one order. Calls are durable when they return.
  SERVER,
  /// In the calling client's process (self-service, section 3): the object migrates to it, and
  /// stays until another client wants it. The store receives the resulting states, never the
  /// arguments. Calls on one object happen one after the other wherever they execute, and see each
  /// other's changes.
  ///
  /// Calls return before they are durable. They become durable on [Stoa#flush()], on
  /// [Stoa#close()], when the client leaves, or as soon as another client's call that saw them
  /// becomes durable. If a client crashes, its non-durable calls are lost, together with everything
  /// that no other client has seen of them. If the servers hear nothing of it for some seconds,
  /// they treat it in the same way, and its next flush throws [UnknownOutcome]. Its objects
  /// continue elsewhere from the newest remaining copies, and a client that returns changes nothing
  /// of that. If a server fails, objects continue from what is durable.
  ///
  /// Nothing limits how long methods run at a client: neither [Limits#callTimeMax()] nor
  /// [Stoa#within]. A caller that waits for the object gets [DeadlineExceeded] after
  /// [Limits#callTimeMax()].
  ///
  /// The history of such an object ([Stoa#history]) consists of states, each the result of one or
  /// more calls. The placement of a class may change when the store opens again: states and calls
  /// in the log count either way. A server and its clients must agree on it.
  ///
  /// Accessors see all calls that ended before, unless a view says otherwise: [View.Client] with
  /// [Reads#LOCAL] answers from the newest copy in this process, [View.Local] and [View.Cached]
  /// from what is durable.
  ///
  /// Such objects cannot take part in transactions, and methods of other objects cannot call them.
  /// [Stoa#together] is for several of them, of one [Shared#domain()], whose methods may call each
  /// other there. A call from their methods on a [#SERVER] object is a call of its own, which
  /// repeats when the method repeats because its client was disconnected. A deletion is durable
  /// when [Stoa#delete] returns; from then on, accessors that see all calls throw [Gone].
  /// [Stoa#find] and [Stoa#list] know an object when it is durable. Calls of a client that is
  /// [TreeMembership.Outside], and calls on a store in this process, execute where the store is,
  /// and are durable when they return.
  CLIENT,
  /// Where it costs less: as [#SERVER] or as [#CLIENT], which may change while the object is in
  /// use. The choice depends on how long its methods compute, on the size of its state, and on how
  /// often each member of the tree calls it. Accessors do not count, nor do calls from outside the
  /// tree when there are members. The rules of [#CLIENT] hold, except that calls may already be
  /// durable when they return, and that their arguments may enter the store's log.
  ///
  /// A client of a server takes part as a node of the tree, see [TreeMembership]; calls of one that
  /// is [TreeMembership.Outside] execute at the server. Accessors see all calls that ended before,
  /// whatever a view says. Do not choose it for methods whose arguments must stay where they are,
  /// or that call other objects: at the server such a call is part of theirs.
  AUTO
}
