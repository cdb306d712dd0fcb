package stoa.node;

import com.google.protobuf.ByteString;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.DeadlineExceeded;
import stoa.Forbidden;
import stoa.LimitExceeded;
import stoa.Unavailable;
import stoa.UnknownOutcome;
import stoa.base.CallId;
import stoa.base.Existence;
import stoa.base.Latency;
import stoa.base.Trace;
import stoa.front.ObjectAnswer;
import stoa.node.access.Caller;
import stoa.node.access.Need;
import stoa.node.access.Permit;
import stoa.node.access.Role;
import stoa.objects.ObjectService;
import stoa.store.calls.Terms;
import stoa.wire.BlobOperation;
import stoa.wire.FrameLimits;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Request;

/// One request in progress: where its work runs, and its answer. Thread-safe; it is answered once.
final class PendingRequest {
  private final ServedGroup served;
  private final ObjectService service;
  private final Session session;
  private final Request request;
  private final Caller caller;
  private final long arrivedNanos;

  // Null when its client does not record it.
  private final @Nullable Trace trace;

  // Set by the thread that begins the request, before it begins anything.
  private Permit permit = Permit.WHOLE;

  // Set by the thread that begins the request's call.
  private volatile @Nullable Latency latency;
  private int weight;

  PendingRequest(ServedGroup served, Session session, Request request, Caller caller) {
    this.served = served;
    this.service = served.service();
    this.session = session;
    this.request = request;
    this.caller = caller;
    this.arrivedNanos = served.nowNanos();
    this.trace = served.tracing(session, request);
  }

  /// Work that answers a request.
  interface Work {
    Answer.Builder answer() throws Throwable;
  }

  /// Work that answers a request about an object.
  interface OnObject {
    Answer.Builder answer(ObjectService.Container object) throws Throwable;
  }

  Session session() {
    return session;
  }

  Request request() {
    return request;
  }

  /// Returns the call id with which its call is logged.
  CallId id() {
    return new CallId(session.id(), request.getSequence());
  }

  /// Notes which call it makes.
  void calls(ObjectService.Call call) {
    measure(served.meter(call));
    traces(call);
  }

  /// Adds the called method to the trace of the request.
  void traces(ObjectService.Call call) {
    Trace recorded = trace;
    if (recorded != null) served.trace(recorded, call);
  }

  /// Begins work in the store that may be recorded.
  <R extends @Nullable Object, X extends Throwable> R traced(Trace.Work<R, X> work) throws X {
    Trace recorded = trace;
    return recorded == null ? work.run() : recorded.run(work);
  }

  /// Measures it as a call, from its arrival to its answer.
  private void measure(@Nullable Latency meter) {
    if (meter == null) return;
    weight = meter.begin();
    if (weight > 0) latency = meter;
  }

  // ---- answers

  void answer(Answer.Builder answer) {
    Trace recorded = trace;
    if (served.isOver()) { // the server that has the store now is asked again
      if (recorded != null) recorded.end(new Unavailable("another server has the store"));
      return;
    }
    Answer built = answer.setSequence(request.getSequence()).build();
    if (built.getSerializedSize() > FrameLimits.BYTES_MAX - 1_024) {
      var tooLarge =
          new LimitExceeded(
              "the answer takes "
                  + built.getSerializedSize()
                  + " bytes, and a frame has "
                  + FrameLimits.BYTES_MAX
                  + "; ask for less at once");
      built = failure(tooLarge).setSequence(request.getSequence()).build();
    }
    served.answered().count();
    Latency measured = latency;
    if (measured != null) measured.end(weight, served.nowNanos() - arrivedNanos);
    if (recorded != null) end(recorded, built);
    session.answer(built);
  }

  private static void end(Trace trace, Answer answer) {
    if (answer.hasFailure()) {
      trace.fail(answer.getFailure().getKind() + ": " + answer.getFailure().getMessage());
    } else if (answer.hasOutcome() && answer.getOutcome().hasCause()) {
      trace.fail(answer.getOutcome().getCause().getMessage());
    } else if (answer.hasAnswered()) {
      ByteString said = answer.getAnswered().getAnswer();
      if (!said.isEmpty() && said.byteAt(0) == ObjectAnswer.THREW) trace.fail("the method threw");
    }
    trace.end(null);
  }

  void fail(Throwable cause) {
    // No answer: the client makes the request again where the store is open next. That a call waits
    // no longer, for example, says nothing of the call.
    if (cause instanceof Closed && service.isClosed()) {
      Trace recorded = trace;
      if (recorded != null) recorded.end(cause);
      return;
    }
    if (cause instanceof Forbidden) forbid(String.valueOf(cause.getMessage()));
    else answer(failure(cause));
  }

  // ---- roles

  /// Answers, after a while, that the roles of the client do not allow it.
  void forbid(String why) {
    session.refuses();
    served
        .access()
        .refusals()
        .forbidden(
            "identity " + caller.name(),
            why,
            () -> {
              session.hasRefused();
              answer(failure(new Forbidden(why)));
            });
  }

  /// Notes the conditions under which the roles of the client allow it.
  void allow(Permit value) {
    permit = value;
  }

  /// Returns whether the roles of the client allow it to read objects of a type.
  boolean maySee(String type) {
    return caller.mayAll() || caller.permit(Need.of(Role.READ, type)).refusal() == null;
  }

  /// Returns whether [#allowed] may take long.
  boolean isAllowedPartly() {
    return permit.isPartial();
  }

  /// Returns its call as the roles of the client allow it.
  ///
  /// @param generation returns the generation of an object; 0 when it is absent
  /// @throws Forbidden when they do not
  ObjectService.Call allowed(
      ObjectService.Call made, ToLongFunction<ObjectService.Container> generation) {
    if (!permit.isPartial() || service.isReading(made)) return made;
    String type = made.container().key().space();
    if (permit.readsOnly()) throw new Forbidden(caller.refusal(Need.of(Role.CALL, type)));
    long exists = generation.applyAsLong(made.container());
    if (exists != 0) {
      return new ObjectService.Call(
          made.container(), new Existence.Generation(exists), made.bytes());
    }
    throw new Forbidden(
        made.container().key()
            + " does not exist, and "
            + caller.refusal(Need.of(Role.CREATE, type)));
  }

  private Answer.Builder failure(Throwable cause) {
    return Forms.answer(service.moment()).setFailure(FailureForm.of(cause, service));
  }

  /// Does work that answers, and answers a failure.
  void attempt(Work work) {
    try {
      check();
      answer(traced(work::answer));
    } catch (Throwable failed) {
      refuse(failed);
    }
  }

  /// Starts work that answers later, and answers a failure.
  void start(Supplier<CompletableFuture<byte[]>> work) {
    try {
      if (!isRelease()) check();
      var _ =
          traced(work::get)
              .whenComplete((done, failed) -> {
                if (failed == null) answer(Forms.data(done, service.moment()));
                else refuse(failed);
              });
    } catch (Throwable failed) {
      refuse(failed);
    }
  }

  /// Answers when a future completes.
  <T> void settle(
      Supplier<CompletableFuture<T>> work,
      BiFunction<@Nullable T, @Nullable Throwable, Answer.Builder> form) {
    try {
      var _ =
          traced(work::get)
              .whenComplete((done, failed) -> {
                Throwable cause =
                    failed instanceof CompletionException told ? told.getCause() : failed;
                answer(form.apply(done, cause));
              });
    } catch (RuntimeException | Error refused) {
      refuse(refused);
    }
  }

  /// Lets go of something that the session holds, and answers. No limit refuses this: the session
  /// would hold it to its end.
  void letGo(Runnable work) {
    try {
      answer(
          traced(() -> {
            work.run();
            return Forms.done();
          }));
    } catch (Throwable failed) {
      refuse(failed);
    }
  }

  private void check() {
    checkTime();
    if (session.isOverfull()) {
      throw new LimitExceeded(
          "the session leaves more than "
              + served.config().answerBytesMax()
              + " bytes of answers (answerBytesMax) unread or unacknowledged; read and acknowledge"
              + " them");
    }
  }

  /// Returns whether this only lets go of a snapshot or a write of a blob. No limit refuses that,
  /// as in [#letGo].
  private boolean isRelease() {
    return request.hasBlob() && BlobOperation.isRelease(request.getBlob().getOperation());
  }

  private void refuse(Throwable failed) {
    switch (failed) {
      case CompletionException told when told.getCause() != null -> refuse(told.getCause());
      case VirtualMachineError beyond ->
          fail(new Unavailable("the server failed: " + beyond, beyond));
      default -> fail(failed);
    }
  }

  // ---- time

  /// Returns for how long it may wait before it begins; 0 for as long as it must.
  private long waitMillisMax() {
    int millis = request.getTimeMillis();
    if (isRelease()) return 0;
    if (millis > 0) return millis;
    return switch (request.getWhatCase()) {
      case BLOB, STREAM, LIST_OBJECTS, DELETE, TRIM -> service.limits().callTimeMax().toMillis();
      default -> 0;
    };
  }

  /// Checks its time limit.
  ///
  /// @throws DeadlineExceeded when it has waited for longer than it may take
  void checkTime() {
    long millis = waitMillisMax();
    if (millis > 0 && served.nowNanos() - arrivedNanos > TimeUnit.MILLISECONDS.toNanos(millis)) {
      throw new DeadlineExceeded(
          "the call waited for more than " + millis + " ms; nothing was written");
    }
  }

  /// Returns its remaining time: the client's limit, and at most the store's limit for a call.
  Duration timeLeft() {
    int millis = request.getTimeMillis();
    Duration most = service.limits().callTimeMax();
    if (millis == 0) return most;
    var left = Duration.ofMillis(millis).minusNanos(served.nowNanos() - arrivedNanos);
    return left.compareTo(most) < 0 ? left : most;
  }

  /// Returns how long a call may take that may wait for a condition: the client's limit, which may
  /// be more than the store lets any call run; a very long time when the client set none.
  Duration callTimeLeft() {
    long millis = MessageForms.waitMillis(request);
    if (millis == 0) return Terms.UNLIMITED;
    return Duration.ofMillis(millis).minusNanos(served.nowNanos() - arrivedNanos);
  }

  // ---- requests to an earlier server

  /// Returns whether it may have come to an earlier server.
  boolean isAgain() {
    return request.getSince() != 0;
  }

  /// Returns the log counter after which to search for it, if it [#isAgain].
  long since() {
    return request.getSince() - 1;
  }

  /// Refuses a request that an earlier server may have executed, and that the log does not show.
  boolean isLost() {
    if (!isAgain()) return false;
    fail(
        new UnknownOutcome(
            "the server was restarted while this was asked; look whether it was done"));
    return true;
  }

  // ---- where its work runs

  /// Runs, on another thread, work that may wait for the disk and runs no users' code.
  void aside(Work work) {
    served.background(() -> attempt(work));
  }

  /// Runs work as [#aside] that may run users' code.
  void onCalls(Work work) {
    session.threads.calls().execute(() -> attempt(work));
  }

  /// Runs work as [#aside] that happens once, and that the log does not show.
  void once(Work work) {
    if (!isLost()) aside(work);
  }

  /// Runs work that waits for an object, once that is open. It stays outside of the lane: later
  /// calls begin at once, in the order in which the client made them on all objects.
  ///
  /// @param number the container's number
  void onObject(int number, OnObject work) {
    onObjectAfter(CompletableFuture.completedFuture(null), number, work);
  }

  /// Runs work as [#onObject], once a future has completed.
  void onObjectAfter(CompletableFuture<?> before, int number, OnObject work) {
    OpenObject container = session.container(number);
    container
        .lane()
        .quick(() -> {
          var _ = before.whenComplete((_, _) -> onCalls(() -> work.answer(container.object())));
        });
  }
}
