package stoa.client;

import java.lang.ref.Cleaner;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Aborted;
import stoa.LogAddress;
import stoa.Ref;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.objects.Attempts;
import stoa.objects.ObjectType;
import stoa.objects.Sharing;
import stoa.objects.proxy.Proxied;
import stoa.objects.proxy.Proxies;
import stoa.objects.types.Keys;
import stoa.objects.types.SharedMethod;
import stoa.store.Existence;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Commit;
import stoa.wire.proto.End;
import stoa.wire.proto.Enter;
import stoa.wire.proto.Find;
import stoa.wire.proto.Leave;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// A transaction over shared objects, which lives in the server. One thread at a time uses it.
final class RemoteTransaction implements Attempts.Attempt {
  /// The transaction in whose body the current thread is.
  private static final ScopedValue<RemoteTransaction> CURRENT = ScopedValue.newInstance();

  private static final Cleaner CLEANER = Cleaner.create();

  private final RemoteStoa stoa;
  private final long number;
  private final TxOptions options;
  private final Scope scope = new Scope();
  private final int life;
  private final Outgoing begin;

  /// The transaction in whose body this one was begun, over another store; null when there is none.
  private final @Nullable RemoteTransaction around;

  /// The thread that runs the body.
  private @Nullable Thread runner;

  /// What it logs, once it would log something.
  private @Nullable TransactionId id;

  private boolean ended;

  /// Whether the server was told that nobody asks about it any more.
  private boolean closed;

  /// Begins one. Does not wait for the server.
  RemoteTransaction(RemoteStoa stoa, long number, TxOptions options) {
    this.stoa = stoa;
    this.number = number;
    this.options = options;
    this.around = CURRENT.isBound() ? CURRENT.get() : null;
    life = stoa.conversation().life();
    var asked =
        Begin.newBuilder()
            .setTransaction(number)
            .setReadOnly(options.readOnly())
            .setObjectsMax(stoa.limits().transactionObjectsMax())
            .setBytesMax(stoa.limits().transactionBytesMax())
            .setTimeMicros(java.util.concurrent.TimeUnit.MICROSECONDS.convert(options.timeMax()));
    LogAddress at = options.at();
    if (at != null) asked.setAt(Requests.at(at));
    begin =
        Outgoing.beginning(
            scope,
            Request.newBuilder().setTransaction(number).setBegin(asked),
            Outgoing.Recovery.UNKNOWN);
    stoa.conversation().begin(begin);
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
    return stoa.conversation().life() != life;
  }

  /// Gives it up when nobody can reach it any more: what it reads is kept for it until then.
  void closeWhenForgotten() {
    Conversation conversation = stoa.conversation();
    long forgotten = number;
    Scope in = scope;
    var _ = CLEANER.register(this, () -> end(conversation, forgotten, in));
  }

  long number() {
    return number;
  }

  Scope scope() {
    return scope;
  }

  // ---- what programs call

  @Override
  public LogAddress at() {
    return Requests.at(stoa.requests().sound(stoa.conversation().await(begin)).getDone().getAt());
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
    Answer answer;
    try {
      answer =
          stoa.conversation().ask(ask(Request.newBuilder().setCommit(Commit.getDefaultInstance())));
    } catch (UnknownOutcome unknown) {
      return settled(unknown);
    }
    failed(answer);
    var outcome = answer.getOutcome();
    return switch (outcome.getKind()) {
      case COMMITTED -> new Outcome.Committed(Requests.at(outcome.getAt()));
      case ABORTED -> {
        RuntimeException cause = stoa.requests().failure(outcome.getCause());
        if (cause instanceof Aborted aborted) yield new Outcome.Aborted(aborted);
        throw cause;
      }
      case NOT_COMMITTED, UNKNOWN, UNRECOGNIZED -> new Outcome.Unknown(id(outcome.getId()));
    };
  }

  /// What became of a commit whose answer was lost.
  private Outcome settled(UnknownOutcome unknown) {
    TransactionId known = id;
    if (known == null) {
      if (options.readOnly()) return new Outcome.Committed(at());
      throw unknown;
    }
    if (!isLost()) return new Outcome.Unknown(id(known));
    // The server that had it is gone: its log says what happened.
    Outcome found = stoa.outcome(known);
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
    end(stoa.conversation(), number, scope);
  }

  private static void end(Conversation conversation, long number, Scope scope) {
    var request = Request.newBuilder().setTransaction(number).setEnd(End.getDefaultInstance());
    conversation.tell(Outgoing.in(scope, null, request, 0));
  }

  private void check() {
    if (ended) throw new IllegalStateException("the transaction has ended; begin another");
  }

  // ---- calls

  private Outgoing ask(Request.Builder request) {
    return Outgoing.in(scope, null, request.setTransaction(number), 64);
  }

  /// Throws what failed: the beginning, if that did.
  private void failed(Answer answer) {
    if (!answer.hasFailure()) return;
    if (begin.isSettled()) stoa.requests().sound(begin.answer());
    throw stoa.requests().failure(answer.getFailure());
  }

  /// Makes a call as part of the transaction.
  @Nullable Object call(RemoteInvoker live, SharedMethod method, @Nullable Object[] arguments)
      throws Throwable {
    check();
    RemoteType.refuseStream(live.shared());
    return call(live, live.type().call(method, arguments), live.existenceThen());
  }

  private @Nullable Object call(RemoteInvoker live, byte[] call, Existence existence)
      throws Throwable {
    Answer answer = stoa.conversation().ask(stoa.requests().call(live, call, existence, this));
    failed(answer);
    Answered answered = answer.getAnswered();
    if (answered.hasTransaction()) id = answered.getTransaction();
    return stoa.requests().value(answered);
  }

  void create(RemoteInvoker live, Existence existence) throws Throwable {
    check();
    RemoteType.refuseStream(live.shared());
    var _ = call(live, ObjectType.creation(), existence);
  }

  void delete(RemoteInvoker live, Existence existence) {
    check();
    RemoteType.refuseStream(live.shared());
    Container container = live.container();
    var request = stoa.requests().delete(container, existence).setTransaction(number);
    Answer answer = stoa.conversation().ask(Outgoing.in(scope, container, request, 64));
    failed(answer);
    live.bind(answer.getDone().getNumber());
  }

  long generation(RemoteInvoker live) {
    check();
    if (live.group() != stoa.group()) throw ObjectType.refusedStream(live.shared());
    Container container = live.container();
    var find = Find.newBuilder().setContainer(container.number());
    var request = Request.newBuilder().setTransaction(number).setFind(find);
    Answer answer = stoa.conversation().ask(Outgoing.in(scope, container, request, 64));
    failed(answer);
    return answer.getDone().getNumber();
  }

  /// Begins a nested transaction.
  void enter(TxOptions nested) {
    check();
    var enter = Enter.newBuilder().setReadOnly(nested.readOnly());
    failed(stoa.conversation().ask(ask(Request.newBuilder().setEnter(enter))));
  }

  /// Ends the nested transaction that began last.
  void leave(boolean keep) {
    if (ended) return;
    var leave = Leave.newBuilder().setKeep(keep);
    failed(stoa.conversation().ask(ask(Request.newBuilder().setLeave(leave))));
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
