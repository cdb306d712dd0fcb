package stoa.client;

import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.base.Trace;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Request;

/// A request in progress, and its result.
///
/// The lock of its conversation guards the fields of the session. Any thread settles it, once; one
/// thread waits for it, or a listener receives it.
final class Outgoing {
  /// The fate of a request without an answer when the server has lost its memory of it.
  enum Recovery {
    /// The request changes nothing: the client repeats it.
    READ,
    /// The server searches its log for the request, and executes the request if the log lacks it.
    LOOKED_UP,
    /// The outcome is unknown: the caller gets [UnknownOutcome][stoa.UnknownOutcome].
    UNKNOWN
  }

  private final Request.Builder request;

  // Null when no tracer records the request.
  private @Nullable Trace trace;

  private final Recovery recovery;
  private final @Nullable Container container;
  private final @Nullable Scope scope;
  private final boolean begins;
  private final int bytes;

  // Owned by the session.
  long sequence;
  long moment;
  boolean abandoned;

  // The round trips that its transaction had waited for when it began; owned by the transaction.
  long tripsBefore;

  private volatile boolean settled;
  private @Nullable Answer answer;
  private @Nullable RuntimeException failure;
  private volatile @Nullable Thread waiter;
  private @Nullable Consumer<Outgoing> listener; // guarded by this
  private long deadlineNanos;
  private boolean patient;

  private Outgoing(
      Request.Builder request,
      Recovery recovery,
      @Nullable Container container,
      @Nullable Scope scope,
      boolean begins,
      int bytes) {
    this.request = request;
    this.recovery = recovery;
    this.container = container;
    this.scope = scope;
    this.begins = begins;
    this.bytes = bytes;
  }

  /// Returns a request of its own.
  static Outgoing of(Request.Builder request, Recovery recovery, int bytes) {
    return new Outgoing(request, recovery, null, null, false, bytes);
  }

  /// Returns a request on an object.
  ///
  /// @param container in use until the request is settled
  static Outgoing on(Container container, Request.Builder request, Recovery recovery, int bytes) {
    return new Outgoing(request, recovery, container, null, false, bytes);
  }

  /// Returns a request within a scope in the server's memory.
  static Outgoing in(
      Scope scope, @Nullable Container container, Request.Builder request, int bytes) {
    return new Outgoing(request, Recovery.UNKNOWN, container, scope, false, bytes);
  }

  /// Returns the request that begins a scope in the server's memory.
  ///
  /// @param recovery [Recovery#READ] when it may begin once more, [Recovery#UNKNOWN] when the
  ///   requests after it are lost
  static Outgoing beginning(Scope scope, Request.Builder request, Recovery recovery) {
    return new Outgoing(request, recovery, null, scope, true, 0);
  }

  /// Makes its caller wait for as long as the client is connected: the server limits its time.
  Outgoing patient() {
    patient = true;
    return this;
  }

  boolean isPatient() {
    return patient;
  }

  Request.Builder request() {
    return request;
  }

  /// Sets the trace that records the request; null when no tracer records it. The caller sets it
  /// before it submits the request.
  void trace(@Nullable Trace recorded) {
    if (recorded == null) return;
    trace = recorded;
    request.setTraceparent(recorded.parent().toString());
  }

  /// Notes that the client sends the request again.
  void again() {
    Trace recorded = trace;
    if (recorded != null) recorded.event("stoa.sent.again");
  }

  Recovery recovery() {
    return recovery;
  }

  @Nullable Container container() {
    return container;
  }

  @Nullable Scope scope() {
    return scope;
  }

  boolean begins() {
    return begins;
  }

  int bytes() {
    return bytes;
  }

  long deadlineNanos() {
    return deadlineNanos;
  }

  /// Sets the time until which the caller waits.
  void deadlineNanos(long nanos) {
    deadlineNanos = nanos;
  }

  boolean isSettled() {
    return settled;
  }

  /// Returns the server's answer.
  ///
  /// @throws RuntimeException when there is no answer
  Answer answer() {
    RuntimeException failed = failure;
    if (failed != null) throw failed;
    Answer said = answer;
    if (said == null) throw new IllegalStateException("a request is not settled");
    return said;
  }

  /// Settles it with an answer or a failure.
  void settle(@Nullable Answer said, @Nullable RuntimeException failed) {
    Consumer<Outgoing> told;
    synchronized (this) {
      if (settled) return;
      answer = said;
      failure = failed;
      settled = true;
      told = listener;
    }
    Container used = container;
    if (used != null) used.release();
    Thread waiting = waiter;
    if (waiting != null) LockSupport.unpark(waiting);
    if (told != null) told.accept(this);
  }

  /// Registers a listener, which the settling thread calls.
  void whenSettled(Consumer<Outgoing> told) {
    synchronized (this) {
      if (!settled) {
        listener = told;
        return;
      }
    }
    told.accept(this);
  }

  /// Waits until it is settled or a time has come; returns whether it is settled.
  boolean await(long untilNanos) {
    if (settled) return true;
    waiter = Thread.currentThread();
    boolean interrupted = false;
    while (!settled) {
      long left = untilNanos - System.nanoTime();
      if (left <= 0) break;
      LockSupport.parkNanos(this, left);
      interrupted |= Thread.interrupted();
    }
    if (interrupted) Thread.currentThread().interrupt();
    return settled;
  }
}
