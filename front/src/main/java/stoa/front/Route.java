package stoa.front;

import stoa.front.types.SharedMethod;

/// Where a call on a proxy goes. What is decided here depends on nothing but the arguments.
enum Route {
  /// To the store, outside of everything. An object there may turn out to be lent to clients: then
  /// the call goes [#AT_CLIENTS].
  DIRECT,
  /// To the run of the method that makes it, which logs it, asks another group, or asks the past.
  IN_METHOD,
  /// To the transaction in whose body it is made.
  IN_TRANSACTION,
  /// It is a transaction of its own, whose body runs here.
  OWN_TRANSACTION,
  /// To the tree of those among which the object migrates.
  AT_CLIENTS,
  /// To the state that is kept at the caller.
  COPY,
  /// To the object as it was.
  PAST,
  /// It is a transaction of its own that reads the past.
  PAST_TRANSACTION,
  /// Nowhere: an object that is placed at clients takes no part in transactions.
  REFUSED_PLACED,
  /// Nowhere: a view in the calling process takes no part in transactions and methods.
  REFUSED_VIEW,
  /// Nowhere: a method cannot read history.
  REFUSED_HISTORY,
  /// Nowhere: the past cannot be changed.
  REFUSED_CHANGE;

  /// By which way a proxy leads to its object.
  enum Way {
    /// The ordinary one.
    LIVE,
    /// A state that is kept at the caller.
    COPY,
    /// The tree of clients, lent if need be.
    TREE,
    /// A version of its own.
    VERSION,
    /// A place in the log, where all other objects are seen as well.
    PLACE
  }

  /// Decides.
  ///
  /// @param kind of the method
  /// @param inMethod whether the run of a method of the store makes the call
  /// @param inTransaction whether the body of a transaction over the store does
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
