package stoa.front;

import stoa.front.types.SharedMethod;

/// The route of a call on a proxy. The decision depends on the arguments alone.
enum Route {
  /// To the store, outside of any context. An object there may turn out to be lent to clients: then
  /// the call goes [#AT_CLIENTS].
  DIRECT,
  /// To the run of the calling method, which logs the call, asks another group, or asks the past.
  IN_METHOD,
  /// To the transaction whose body makes the call.
  IN_TRANSACTION,
  /// The call is a transaction of its own, whose body runs here.
  OWN_TRANSACTION,
  /// To the tree of the processes among which the object migrates.
  AT_CLIENTS,
  /// To the state at the caller.
  COPY,
  /// To the past state of the object.
  PAST,
  /// The call is a transaction of its own that reads the past.
  PAST_TRANSACTION,
  /// Refused: an object that is placed at clients takes no part in transactions.
  REFUSED_PLACED,
  /// Refused: a view in the calling process takes no part in transactions and methods.
  REFUSED_VIEW,
  /// Refused: a method cannot read history.
  REFUSED_HISTORY,
  /// Refused: a call cannot change the past.
  REFUSED_CHANGE;

  /// The kind of a proxy's connection to its object.
  enum Way {
    /// An ordinary proxy.
    LIVE,
    /// A state at the caller.
    COPY,
    /// The tree of clients; the store lends the object if necessary.
    TREE,
    /// A past version of the object.
    VERSION,
    /// A place in the log, which shows all other objects as well.
    PLACE
  }

  /// Decides the route of a call.
  ///
  /// @param kind of the method
  /// @param inMethod whether the run of a method of the store makes the call
  /// @param inTransaction whether the body of a transaction over the store makes the call
  /// @param placed whether the object executes its calls at clients
  /// @param inTree whether the calling process executes such calls
  static Route of(
      Way way,
      SharedMethod.Kind kind,
      boolean inMethod,
      boolean inTransaction,
      boolean placed,
      boolean inTree) {
    return switch (way) {
      case LIVE -> live(kind, inMethod, inTransaction, placed, inTree);
      case COPY ->
          kind == SharedMethod.Kind.ACCESSOR && !inMethod && !inTransaction
              ? COPY
              : live(kind, inMethod, inTransaction, placed, inTree);
      case TREE -> inMethod || inTransaction ? REFUSED_VIEW : AT_CLIENTS;
      case VERSION, PLACE -> then(way, kind, inMethod);
    };
  }

  private static Route live(
      SharedMethod.Kind kind,
      boolean inMethod,
      boolean inTransaction,
      boolean placed,
      boolean inTree) {
    if (inMethod) return IN_METHOD;
    if (inTransaction) return placed ? REFUSED_PLACED : IN_TRANSACTION;
    if (placed && inTree) return AT_CLIENTS;
    return kind.isTransaction() ? OWN_TRANSACTION : DIRECT;
  }

  private static Route then(Way way, SharedMethod.Kind kind, boolean inMethod) {
    boolean transacts = way == Way.PLACE && kind == SharedMethod.Kind.READING_TRANSACTION;
    if (kind != SharedMethod.Kind.ACCESSOR && !transacts) return REFUSED_CHANGE;
    if (inMethod) return REFUSED_HISTORY;
    return transacts ? PAST_TRANSACTION : PAST;
  }
}
