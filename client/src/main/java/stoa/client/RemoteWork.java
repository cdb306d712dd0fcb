package stoa.client;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Ref;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.Existence;
import stoa.front.CallNumbers;
import stoa.front.Refusals;
import stoa.front.Service;
import stoa.front.SharedCall;
import stoa.front.types.Keys;
import stoa.front.types.SharedMethod;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Call;
import stoa.wire.proto.CommitAcross;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// A transaction in the servers of its objects' groups. One thread at a time uses it.
final class RemoteWork implements Service.Work {
  // The most requests of one transaction that are in progress at once.
  private static final int IN_PROGRESS_MAX = 64;

  private final RemotePart stoa;
  private final RoundTrips trips;
  private final TxOptions options;

  // Its branches by group; the branch of the first group determines where it reads.
  private final SortedMap<Integer, Branch> branches = new TreeMap<>();

  // The nested transactions in progress: whether each only reads.
  private final List<Boolean> nested = new ArrayList<>();

  private final Errands errands;

  // The numbers of the intents under which it runs, by group.
  private final Map<Integer, Long> intents;

  // The reason why it cannot commit.
  private @Nullable RuntimeException doomed;

  private volatile boolean ended;

  // Whether the client has told the servers that it is over.
  private volatile boolean closed;

  /// Begins one. Does not wait for the server.
  ///
  /// @param stoa the first part
  /// @param intent under which it runs; null for none
  RemoteWork(RemotePart stoa, TxOptions options, Service.@Nullable Intent intent) {
    this.stoa = stoa;
    trips = stoa.service().roundTrips();
    this.options = options;
    intents = intent == null ? Map.of() : ((Declared) intent).numbers;
    branches.put(
        stoa.group(), new Branch(stoa, trips, options, options.at(), intent(stoa.group())));
    errands = new Errands(new InAll());
  }

  /// Intents at the servers of several groups.
  ///
  /// @param numbers by group
  private record Declared(Map<Integer, Long> numbers) implements Service.Intent {}

  private long intent(int group) {
    return intents.getOrDefault(group, 0L);
  }

  @Override
  public Service.@Nullable Intent intend(Duration hold, Duration waitMax) {
    // The transaction declares its intents in the order of the groups, and first ends those of its
    // last attempt. So no two transactions wait for each other.
    if (intents.size() > 1) {
      for (Branch branch : branches.values()) {
        if (branch.isUsed()) {
          var _ = branch.intend(Duration.ZERO, waitMax);
        }
      }
    }
    var numbers = new HashMap<Integer, Long>();
    branches.forEach((group, branch) -> {
      if (!branch.isUsed()) return;
      long number = branch.intend(hold, waitMax);
      if (number != 0) numbers.put(group, number);
    });
    return numbers.isEmpty() ? null : new Declared(numbers);
  }

  private Branch first() {
    return Objects.requireNonNull(branches.get(stoa.group()));
  }

  /// Returns the branch in the group of an object, and begins it if necessary.
  private Branch branch(RemoteObject object) {
    return branch(object.group());
  }

  private Branch branch(int group) {
    Branch known = branches.get(group);
    if (known != null) return known;
    var begun = new Branch(stoa.service().part(group), trips, options, at(), intent(group));
    branches.put(group, begun);
    for (boolean readOnly : nested) begun.enter(readOnly);
    return begun;
  }

  @Override
  public boolean isLost() {
    return branches.values().stream().anyMatch(Branch::isLost);
  }

  @Override
  public boolean isLate() {
    return branches.values().stream().anyMatch(Branch::isLate);
  }

  @Override
  public LogAddress at() {
    return first().at();
  }

  @Override
  public boolean isEnded() {
    return ended;
  }

  @Override
  public Transaction.Outcome commit() {
    check();
    ended = true;
    // Every answer has shown the moment of the transaction: a server has nothing to add.
    if (branches.values().stream().noneMatch(Branch::changes)) {
      return new Transaction.Outcome.Committed(at());
    }
    List<Branch> used = branches.values().stream().filter(Branch::isUsed).toList();
    return used.size() == 1 ? commit(used.getFirst()) : across();
  }

  /// Commits a transaction with one branch.
  private Transaction.Outcome commit(Branch branch) {
    Answer answer;
    try {
      answer = branch.commit();
    } catch (UnknownOutcome unknown) {
      return settled(branch, unknown);
    }
    return outcome(answer, branch);
  }

  /// Commits a transaction with several branches.
  private Transaction.Outcome across() {
    var across = CommitAcross.newBuilder();
    branches.forEach((group, branch) -> {
      if (branch.isUsed()) across.addBranches(branch.named(group));
    });
    // The client may repeat this: the coordinator knows whether it has committed.
    var request = Request.newBuilder().setCommitAcross(across);
    trips.wholeTrip();
    Answer answer = stoa.ask(Outgoing.of(request, Outgoing.Recovery.LOOKED_UP, 256));
    return outcome(answer, first());
  }

  private Transaction.Outcome outcome(Answer answer, Branch branch) {
    var outcome = answer.getOutcome();
    return switch (outcome.getKind()) {
      case COMMITTED -> new Transaction.Outcome.Committed(MessageForms.at(outcome.getAt()));
      case ABORTED -> {
        RuntimeException cause = branch.stoa().requests().failure(outcome.getCause());
        if (cause instanceof Aborted aborted) yield new Transaction.Outcome.Aborted(aborted);
        throw cause;
      }
      case NOT_COMMITTED, UNKNOWN, UNRECOGNIZED ->
          new Transaction.Outcome.Unknown(id(outcome.getId()));
    };
  }

  /// Returns the outcome of a commit whose answer was lost.
  private Transaction.Outcome settled(Branch branch, UnknownOutcome unknown) {
    TransactionId known = branch.id();
    if (known == null) {
      if (options.readOnly()) return new Transaction.Outcome.Committed(at());
      throw unknown;
    }
    if (!branch.isLost()) return new Transaction.Outcome.Unknown(id(known));
    // The log of the new server shows what happened.
    Transaction.Outcome found = branch.stoa().outcome(known);
    if (found instanceof Transaction.Outcome.Committed) return found;
    throw new Unavailable(
        "the server was started again before the transaction was written; nothing was written, run"
            + " it again",
        unknown);
  }

  private Transaction.Id id(TransactionId known) {
    Object key = Keys.decode(known.getKey().toByteArray(), stoa.loader());
    return new Transaction.Id(
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

  @Override
  public @Nullable Object call(SharedCall to, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    check();
    if (!method.kind().isTransaction() || stoa.service().count() == 1) {
      return callAsOwn(to, method, arguments);
    }
    // The servers of the groups see their parts of it only.
    enterAll(false);
    boolean kept = false;
    try {
      Object answer = callAsOwn(to, method, arguments);
      kept = true;
      return answer;
    } finally {
      leave(kept);
    }
  }

  @Override
  public @Nullable Object callAsOwn(
      SharedCall to, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    check();
    return begin(to, method, arguments).answer();
  }

  private Begun begin(SharedCall to, SharedMethod method, @Nullable Object[] arguments) {
    RemoteObject object = (RemoteObject) to.target();
    byte[] call = object.type().call(method, arguments);
    return begin(object, call, to.existenceThen(), !method.kind().changesNothing());
  }

  /// A request in progress.
  ///
  /// @param settling waits until a server has answered it, or it has failed
  /// @param reading returns its answer; waits for it if necessary
  private record Begun(Runnable settling, Reading reading) {
    @Nullable Object answer() throws Throwable {
      return reading.answer();
    }
  }

  private interface Reading {
    @Nullable Object answer() throws Throwable;
  }

  private Begun begin(RemoteObject object, byte[] call, Existence existence, boolean changing) {
    Branch branch = branch(object);
    Call.Builder request = RequestCodec.call(call, existence);
    Outgoing asked = branch.call(object.container(), request, changing);
    return new Begun(
        () -> branch.settle(asked),
        () -> object.part().requests().value(answered(object, branch, request, changing, asked)));
  }

  private Answered answered(
      RemoteObject object, Branch branch, Call.Builder call, boolean changing, Outgoing asked) {
    var _ = errands.haveBegun();
    Answered answered;
    try {
      answered = errands.answered(branch, object::container, call, changing, asked);
    } catch (RuntimeException trouble) {
      // Some groups have executed their part of the call, and others not.
      if (errands.haveBegun()) doomed = trouble;
      throw trouble;
    }
    if (branches.size() > 1) checkLimits();
    return answered;
  }

  @Override
  public List<@Nullable Object> callAll(List<Service.WorkCall> calls) throws Throwable {
    check();
    // A nested transaction contains its calls only.
    boolean isNesting = calls.stream().anyMatch(one -> one.method().kind().isTransaction());
    return isNesting
        ? Service.Work.super.callAll(calls)
        : all(calls, one -> begin(one.to(), one.method(), one.arguments()));
  }

  /// Makes requests, several at once, and waits for their answers in order. After a failure, it
  /// begins no more, and still waits for those in progress.
  private static <T> List<@Nullable Object> all(List<T> requests, Function<T, Begun> beginning)
      throws Throwable {
    var inProgress = new ArrayDeque<Begun>();
    var answers = new ArrayList<@Nullable Object>(requests.size());
    Throwable failed = null;
    int next = 0;
    while (next < requests.size() || !inProgress.isEmpty()) {
      try {
        if (next < requests.size() && inProgress.size() < IN_PROGRESS_MAX) {
          inProgress.add(beginning.apply(requests.get(next)));
          next++;
          // The answers of one server arrive in this order: its caller wakes once for all of them.
          if (next == requests.size()) inProgress.getLast().settling().run();
        } else {
          answers.add(inProgress.remove().answer());
        }
      } catch (Throwable thrown) {
        if (failed == null) failed = thrown;
        next = requests.size();
      }
    }
    if (failed != null) throw failed;
    return answers;
  }

  /// Checks the limits of the whole, since each server knows its part only.
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

  /// All branches, for the calls of methods.
  private final class InAll implements Errands.Branches {
    @Override
    public Branch of(int group) {
      return branch(group);
    }

    @Override
    public void enter() {
      enterAll(false);
    }

    @Override
    public void leave(boolean keep) {
      RemoteWork.this.leave(keep);
    }
  }

  @Override
  public void create(SharedCall to) throws Throwable {
    check();
    RemoteObject object = (RemoteObject) to.target();
    var _ = begin(object, CallNumbers.creation(), to.absence(), true).answer();
  }

  @Override
  public void delete(SharedCall to) {
    deleteAll(List.of(to));
  }

  @Override
  public void deleteAll(List<SharedCall> objects) {
    check();
    try {
      var _ = all(objects, this::beginDeletion);
    } catch (RuntimeException | Error passedOn) {
      throw passedOn;
    } catch (Throwable other) {
      throw new IllegalStateException(other);
    }
  }

  private Begun beginDeletion(SharedCall to) {
    RemoteObject object = (RemoteObject) to.target();
    Branch branch = branch(object);
    Outgoing asked = branch.delete(object, to.ending());
    return new Begun(
        () -> branch.settle(asked),
        () -> {
          to.bind(branch.deleted(asked));
          return null;
        });
  }

  @Override
  public long generation(SharedCall of) {
    check();
    RemoteObject object = (RemoteObject) of.target();
    Refusals.stream(object.shared());
    return branch(object).generation(object);
  }

  @Override
  public void enter(boolean readOnly) {
    check();
    enterAll(readOnly);
  }

  private void enterAll(boolean readOnly) {
    branches.values().forEach(branch -> branch.enter(readOnly));
    nested.add(readOnly);
  }

  @Override
  public void leave(boolean keep) {
    if (ended) return;
    nested.removeLast();
    branches.values().forEach(branch -> branch.leave(keep));
  }
}
