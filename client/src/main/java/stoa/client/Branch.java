package stoa.client;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import stoa.DeadlineExceeded;
import stoa.LogAddress;
import stoa.TxOptions;
import stoa.base.Existence;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Begin;
import stoa.wire.proto.Call;
import stoa.wire.proto.Commit;
import stoa.wire.proto.CommitAcross;
import stoa.wire.proto.End;
import stoa.wire.proto.Enter;
import stoa.wire.proto.Find;
import stoa.wire.proto.Intend;
import stoa.wire.proto.Leave;
import stoa.wire.proto.Request;
import stoa.wire.proto.TransactionId;

/// The part of a transaction in one group. One thread at a time uses it.
final class Branch {
  private final RemotePart stoa;
  private final RoundTrips trips;
  private final long number;
  private final Scope scope = new Scope();
  private final int life;
  private final Outgoing begin;
  private final boolean readOnly;
  private boolean used;
  private boolean changes;
  private boolean late;
  private int objects;
  private long bytes;
  private @Nullable TransactionId id;

  /// Begins it. Does not wait for the server.
  ///
  /// @param trips of its transaction
  /// @param at the log address at which it reads; null for the present
  /// @param intent the number of the intent under which it runs; 0 for none
  Branch(
      RemotePart stoa, RoundTrips trips, TxOptions options, @Nullable LogAddress at, long intent) {
    this.stoa = stoa;
    this.trips = trips;
    this.number = stoa.nextTransaction();
    this.readOnly = options.readOnly();
    life = stoa.conversation().life();
    var asked =
        Begin.newBuilder()
            .setTransaction(number)
            .setReadOnly(options.readOnly())
            .setObjectsMax(stoa.limits().transactionObjectsMax())
            .setBytesMax(stoa.limits().transactionBytesMax())
            .setIntent(intent)
            .setTimeMicros(TimeUnit.MICROSECONDS.convert(options.timeMax()));
    if (at != null) asked.setAt(MessageForms.at(at));
    begin =
        Outgoing.beginning(
            scope,
            Request.newBuilder().setTransaction(number).setBegin(asked),
            Outgoing.Recovery.UNKNOWN);
    begin(begin);
  }

  /// Begins a request.
  private Outgoing begin(Outgoing asked) {
    trips.begun(asked);
    stoa.conversation().begin(asked);
    return asked;
  }

  /// Waits for the answer of a begun request.
  private Answer answer(Outgoing asked) {
    trips.awaited(asked);
    return stoa.conversation().await(asked);
  }

  /// Waits until a begun request has its answer, or has failed; [#answered] tells which.
  void settle(Outgoing asked) {
    trips.awaited(asked);
    try {
      var _ = stoa.conversation().await(asked);
    } catch (RuntimeException _) {
      // The reader of the answer gets the failure.
    }
  }

  /// Returns the part of the store that the group keeps.
  RemotePart stoa() {
    return stoa;
  }

  /// Returns the log address at which it reads.
  LogAddress at() {
    return MessageForms.at(stoa.requests().sound(answer(begin)).getDone().getAt());
  }

  /// Returns whether the server has lost it.
  boolean isLost() {
    return stoa.conversation().life() != life;
  }

  /// Returns whether the server refused something because its time was over.
  boolean isLate() {
    return late;
  }

  /// Returns whether it has made a request.
  boolean isUsed() {
    return used;
  }

  /// Returns whether it has made a request that may change an object.
  boolean changes() {
    return changes;
  }

  /// Returns its identity in the log, once it would log something.
  @Nullable TransactionId id() {
    return id;
  }

  /// Returns its name for the coordinator.
  CommitAcross.Branch named(int group) {
    return CommitAcross.Branch.newBuilder()
        .setGroup(group)
        .setSession(stoa.conversation().session())
        .setTransaction(number)
        .build();
  }

  // ---- requests

  private Answer ask(@Nullable Container container, Request.Builder request) {
    return sound(begin(container, request));
  }

  private Outgoing begin(@Nullable Container container, Request.Builder request) {
    return begin(Outgoing.in(scope, container, request.setTransaction(number), 64));
  }

  private Answer sound(Outgoing asked) {
    return sound(answer(asked));
  }

  private Answer sound(Answer answer) {
    if (!answer.hasFailure()) return answer;
    // A failed beginning may be the cause.
    if (begin.isSettled()) stoa.requests().sound(begin.answer());
    RuntimeException failure = stoa.requests().failure(answer.getFailure());
    late |= failure instanceof DeadlineExceeded;
    throw failure;
  }

  /// Begins a call; [#answered] waits for its answer.
  ///
  /// @param container of the object, in use
  /// @param changing whether it may change the object
  Outgoing call(Container container, Call.Builder call, boolean changing) {
    used = true;
    changes |= changing && !readOnly;
    return begin(stoa.requests().call(container, call, scope, number));
  }

  /// Waits for the answer of a begun call.
  Answered answered(Outgoing asked) {
    Answered answered = sound(asked).getAnswered();
    if (answered.hasTransaction()) id = answered.getTransaction();
    objects = answered.getObjects();
    bytes = answered.getBytes();
    return answered;
  }

  /// Returns how many objects it has read and written, according to the last answer.
  int objects() {
    return objects;
  }

  /// Returns how many bytes it would log, according to the last answer.
  long bytes() {
    return bytes;
  }

  /// Begins to delete an object; [#deleted] waits for its end.
  Outgoing delete(RemoteObject object, Existence existence) {
    used = true;
    changes = true;
    Container container = object.container();
    return begin(container, stoa.requests().delete(container, existence));
  }

  /// Waits until an object is deleted; returns the ended generation.
  long deleted(Outgoing asked) {
    return sound(asked).getDone().getNumber();
  }

  long generation(RemoteObject object) {
    used = true;
    Container container = object.container();
    var find = Find.newBuilder().setContainer(container.number());
    return ask(container, Request.newBuilder().setFind(find)).getDone().getNumber();
  }

  void enter(boolean readOnly) {
    var _ = ask(null, Request.newBuilder().setEnter(Enter.newBuilder().setReadOnly(readOnly)));
  }

  void leave(boolean keep) {
    var _ = ask(null, Request.newBuilder().setLeave(Leave.newBuilder().setKeep(keep)));
  }

  /// Begins to append to streams; [#await] waits until its server has noted that.
  ///
  /// @param append the request to append
  /// @param bytes its size
  Outgoing append(Request.Builder append, int bytes) {
    used = true;
    changes = true;
    return begin(Outgoing.in(scope, null, append.setTransaction(number), bytes));
  }

  /// Waits for the answer of a begun request.
  void await(Outgoing asked) {
    var _ = sound(stoa.conversation().await(asked));
  }

  /// Commits it alone.
  ///
  /// @throws stoa.UnknownOutcome when the server was lost meanwhile
  Answer commit() {
    return ask(null, Request.newBuilder().setCommit(Commit.getDefaultInstance()));
  }

  /// Declares the intent to run it again, once it was aborted; returns the number of the intent, 0
  /// when the server gives none.
  ///
  /// @param hold how long the next attempt will take
  /// @param waitMax how long to wait for other intents
  long intend(Duration hold, Duration waitMax) {
    var intend =
        Intend.newBuilder()
            .setMicros(TimeUnit.MICROSECONDS.convert(hold))
            .setWaitMicros(TimeUnit.MICROSECONDS.convert(waitMax));
    try {
      return ask(null, Request.newBuilder().setIntend(intend)).getDone().getNumber();
    } catch (RuntimeException _) {
      return 0; // a server of an earlier version, or one that is lost: the next attempt will tell
    }
  }

  /// Tells the server that the client asks no more about it.
  void end() {
    var request = Request.newBuilder().setTransaction(number).setEnd(End.getDefaultInstance());
    Outgoing end = Outgoing.in(scope, null, request, 0);
    stoa.conversation().tell(stoa.service().holdEnds().noted(stoa.group(), end));
  }
}
