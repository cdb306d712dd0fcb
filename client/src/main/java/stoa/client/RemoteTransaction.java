package stoa.client;

import stoa.front.Refusals;
import stoa.front.CallNumbers;
import java.lang.ref.Cleaner;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Ref;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Existence;
import stoa.front.Attempts;
import stoa.front.Sharing;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.CommitAcross;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// A transaction over shared objects, which lives in the servers of its objects' groups. One thread
/// at a time uses it.
final class RemoteTransaction implements Attempts.Attempt {
  /// The transaction in whose body the current thread is.
  private static final ScopedValue<RemoteTransaction> CURRENT = ScopedValue.newInstance();

  private static final Cleaner CLEANER = Cleaner.create();

  private final RemoteStoa stoa;
  private final TxOptions options;

  /// What it has begun in each group; that of the first one says where it reads.
  private final SortedMap<Integer, Branch> branches = new TreeMap<>();

  /// The transaction in whose body this one was begun, over another store; null when there is none.
  private final @Nullable RemoteTransaction around;

  /// The nested transactions that are under way: whether each only reads.
  private final List<Boolean> nested = new ArrayList<>();

  private final Errands errands;

  /// Why it cannot be committed.
  private @Nullable RuntimeException doomed;

  /// The thread that runs the body.
  private @Nullable Thread runner;

  private boolean ended;

  /// Whether the servers were told that nobody asks about it any more.
  private boolean closed;

  /// Begins one. Does not wait for the server.
  ///
  /// @param stoa the first part
  RemoteTransaction(RemoteStoa stoa, TxOptions options) {
    this.stoa = stoa;
    this.options = options;
    this.around = CURRENT.isBound() ? CURRENT.get() : null;
    branches.put(stoa.group(), new Branch(stoa, options, options.at()));
    errands = new Errands(new InAll());
  }

  private Branch first() {
    return Objects.requireNonNull(branches.get(stoa.group()));
  }

  /// What it has begun in the group of an object, which is begun if need be.
  private Branch branch(RemoteInvoker live) {
    Refusals.stream(live.shared());
    return branch(live.group());
  }

  private Branch branch(int group) {
    Branch known = branches.get(group);
    if (known != null) return known;
    var begun = new Branch(stoa.parts().part(group), options, at());
    branches.put(group, begun);
    for (boolean readOnly : nested) begun.enter(readOnly);
    return begun;
  }

  /// The transaction over a store in whose body the current thread is, or null.
  static @Nullable RemoteTransaction current(Parts parts) {
    if (!CURRENT.isBound()) return null;
    for (@Nullable RemoteTransaction next = CURRENT.get(); next != null; next = next.around) {
      if (next.stoa.parts() == parts && !next.ended) {
        // A thread of a structured task inherits the binding, and is not in the transaction.
        return Thread.currentThread().equals(next.runner) ? next : null;
      }
    }
    return null;
  }

  @Override
  public <R extends @Nullable Object, X extends Exception> R run(stoa.Body<R, X> body) throws X {
    runner = Thread.currentThread();
    return ScopedValue.where(CURRENT, this).call(body::run);
  }

  @Override
  public boolean isLost() {
    return branches.values().stream().anyMatch(Branch::isLost);
  }

  @Override
  public boolean isLate() {
    return branches.values().stream().anyMatch(Branch::isLate);
  }

  /// Gives it up when nobody can reach it any more: what it reads is kept for it until then.
  void closeWhenForgotten() {
    SortedMap<Integer, Branch> forgotten = branches;
    var _ = CLEANER.register(this, () -> forgotten.values().forEach(Branch::end));
  }

  // ---- what programs call

  @Override
  public LogAddress at() {
    return first().at();
  }

  @Override
  public <T> T on(T shared) {
    // Calls take part wherever they are made.
    return Sharing.through(
        shared, proxy -> Proxies.redirect(proxy, new Taking(this, stoa.parts().own(proxy))));
  }

  @Override
  public Outcome commit() {
    check();
    ended = true;
    List<Branch> used = branches.values().stream().filter(Branch::isUsed).toList();
    if (used.size() <= 1) return commit(used.isEmpty() ? first() : used.getFirst());
    return used.stream().anyMatch(Branch::changes) ? across() : new Outcome.Committed(at());
  }

  /// Commits what is in one group alone.
  private Outcome commit(Branch branch) {
    Answer answer;
    try {
      answer = branch.commit();
    } catch (UnknownOutcome unknown) {
      return settled(branch, unknown);
    }
    return outcome(answer, branch);
  }

  /// Commits what is in several groups.
  private Outcome across() {
    var across = CommitAcross.newBuilder();
    branches.forEach((group, branch) -> {
      if (branch.isUsed()) across.addBranches(branch.named(group));
    });
    // Asked again, the coordinator knows whether it was committed.
    var request = Request.newBuilder().setCommitAcross(across);
    Answer answer = stoa.ask(Outgoing.of(request, Outgoing.Recovery.LOOKED_UP, 256));
    return outcome(answer, first());
  }

  private Outcome outcome(Answer answer, Branch branch) {
    var outcome = answer.getOutcome();
    return switch (outcome.getKind()) {
      case COMMITTED -> new Outcome.Committed(Requests.at(outcome.getAt()));
      case ABORTED -> {
        RuntimeException cause = branch.stoa().requests().failure(outcome.getCause());
        if (cause instanceof Aborted aborted) yield new Outcome.Aborted(aborted);
        throw cause;
      }
      case NOT_COMMITTED, UNKNOWN, UNRECOGNIZED -> new Outcome.Unknown(id(outcome.getId()));
    };
  }

  /// What became of a commit whose answer was lost.
  private Outcome settled(Branch branch, UnknownOutcome unknown) {
    TransactionId known = branch.id();
    if (known == null) {
      if (options.readOnly()) return new Outcome.Committed(at());
      throw unknown;
    }
    if (!branch.isLost()) return new Outcome.Unknown(id(known));
    // The server that had it is gone: its log says what happened.
    Outcome found = branch.stoa().outcome(known);
    if (found instanceof Outcome.Committed) return found;
    throw new Unavailable(
        "the server was started again before the transaction was written; nothing was written, run"
            + " it again",
        unknown);
  }

  private Id id(TransactionId known) {
    Object key = Keys.decode(known.getKey().toByteArray(), stoa.loader());
    return new Id(
        new Ref<Object>(known.getType(), key),
        known.getVersion(),
        new UUID(known.getMarkHigh(), known.getMarkLow()));
  }

  @Override
  public void close() {
    ended = true;
    if (closed) return;
    closed = true;
    branches.values().forEach(Branch::end);
  }

  private void check() {
    if (ended) throw new IllegalStateException("the transaction has ended; begin another");
    if (doomed != null) throw doomed;
  }

  // ---- calls

  /// Makes a call as part of the transaction; one of a method that is a transaction itself, as a
  /// nested one.
  @Nullable Object call(RemoteInvoker live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    check();
    if (!method.kind().isTransaction() || stoa.parts().count() == 1) {
      return callAsOwn(live, method, arguments);
    }
    // The servers of the groups see their parts of it only.
    enter(false);
    boolean kept = false;
    try {
      Object answer = callAsOwn(live, method, arguments);
      kept = true;
      return answer;
    } finally {
      leave(kept);
    }
  }

  /// As [#call], when what a method throws ends the transaction.
  @Nullable Object callAsOwn(RemoteInvoker live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    check();
    if (RemotePlaced.is(live)) throw Refusals.placed(live.key());
    byte[] call = live.type().call(method, arguments);
    Answered answered = call(live, call, live.existenceThen(), !method.kind().isReading());
    return live.stoa().requests().value(answered);
  }

  private Answered call(RemoteInvoker live, byte[] call, Existence existence, boolean changing) {
    Branch branch = branch(live);
    var _ = errands.haveBegun();
    Answered answered;
    try {
      answered = errands.call(branch, live::container, Requests.call(call, existence), changing);
    } catch (RuntimeException trouble) {
      // Some groups have done their part of the call, and others not.
      if (errands.haveBegun()) doomed = trouble;
      throw trouble;
    }
    if (branches.size() > 1) checkLimits();
    return answered;
  }

  /// Each server knows its part only.
  private void checkLimits() {
    int objects = 0;
    long bytes = 0;
    for (Branch branch : branches.values()) {
      objects += branch.objects();
      bytes += branch.bytes();
    }
    var limits = stoa.limits();
    if (objects > limits.transactionObjectsMax()) {
      doomed =
          new LimitExceeded(
              "the transaction reads and writes more than "
                  + limits.transactionObjectsMax()
                  + " objects (transactionObjectsMax); nothing was written, do it in parts");
    }
    if (bytes > limits.transactionBytesMax()) {
      doomed =
          new LimitExceeded(
              "the transaction writes more than "
                  + limits.transactionBytesMax()
                  + " bytes (transactionBytesMax); nothing was written, do it in parts");
    }
    check();
  }

  /// All that it has begun, for the calls that methods make.
  private final class InAll implements Errands.Branches {
    @Override
    public Branch of(int group) {
      return branch(group);
    }

    @Override
    public void enter() {
      RemoteTransaction.this.enter(false);
    }

    @Override
    public void leave(boolean keep) {
      RemoteTransaction.this.leave(keep);
    }
  }

  void create(RemoteInvoker live, Existence existence) throws Throwable {
    check();
    var _ = live.stoa().requests().value(call(live, CallNumbers.creation(), existence, true));
  }

  void delete(RemoteInvoker live, Existence existence) {
    check();
    branch(live).delete(live, existence);
  }

  long generation(RemoteInvoker live) {
    check();
    return branch(live).generation(live);
  }

  /// Begins a nested transaction.
  void enter(TxOptions inner) {
    check();
    enter(inner.readOnly());
  }

  private void enter(boolean readOnly) {
    branches.values().forEach(branch -> branch.enter(readOnly));
    nested.add(readOnly);
  }

  /// Ends the nested transaction that began last.
  void leave(boolean keep) {
    if (ended) return;
    nested.removeLast();
    branches.values().forEach(branch -> branch.leave(keep));
  }

  /// Where the calls on a proxy of [#on] go.
  private record Taking(RemoteTransaction transaction, RemoteInvoker live) implements RemoteRoute {
    @Override
    public @Nullable Object invoke(
        Proxied proxied, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
      return transaction.call(live, method, arguments);
    }
  }
}
