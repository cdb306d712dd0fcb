package stoa.client;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import org.jspecify.annotations.Nullable;
import stoa.base.Existence;
import stoa.front.ObjectAnswer;
import stoa.front.SharedCall;
import stoa.front.marshal.Marshaller;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Call;
import stoa.wire.proto.Delete;
import stoa.wire.proto.Failure;
import stoa.wire.proto.Request;

/// Creates requests, and reads answers. Thread-safe.
final class RequestCodec {
  private final Marshaller marshaller;
  private final ReceivedFailures failures;

  // The time limit of a call at the server, 0 for the server's own limit.
  private final int timeMillis;

  RequestCodec(Marshaller marshaller, ReceivedFailures failures, int timeMillis) {
    this.marshaller = marshaller;
    this.failures = failures;
    this.timeMillis = timeMillis;
  }

  /// Adds the time limit of a call to a request.
  Request.Builder timed(Request.Builder request) {
    return request.setTimeMillis(timeMillis);
  }

  /// Returns a call on the present object.
  Outgoing call(
      RemoteObject object, SharedCall to, byte[] call, Existence existence, boolean reading) {
    Container container = object.container();
    var request =
        Request.newBuilder()
            .setTimeMillis(RemoteObject.timeMillis(to, timeMillis))
            .setCall(call(container, call, existence));
    var done = to.isPlaced() ? Outgoing.Recovery.UNKNOWN : Outgoing.Recovery.LOOKED_UP;
    var recovery = reading ? Outgoing.Recovery.READ : done;
    return Outgoing.on(container, request, recovery, call.length);
  }

  /// Returns a call on the present object that may wait for a condition there, for as long as its
  /// own time limit says.
  Outgoing waitingCall(RemoteObject object, SharedCall to, byte[] call) {
    Container container = object.container();
    var request = Request.newBuilder().setCall(call(container, call, to.existence()));
    MessageForms.limitWaiting(request, to.timeMax());
    var recovery = to.isPlaced() ? Outgoing.Recovery.UNKNOWN : Outgoing.Recovery.LOOKED_UP;
    return Outgoing.on(container, request, recovery, call.length).patient();
  }

  /// Returns a call within a transaction.
  ///
  /// @param container of the object, in use
  /// @param number of the transaction
  Outgoing call(Container container, Call.Builder call, Scope in, long number) {
    var request =
        Request.newBuilder()
            .setTimeMillis(timeMillis)
            .setTransaction(number)
            .setCall(call.setContainer(container.number()));
    int errands = call.getErrandsCount() == 0 ? 0 : call.build().getSerializedSize();
    return Outgoing.in(in, container, request, call.getCall().size() + errands);
  }

  /// Returns a question about a past state of an object.
  ///
  /// @param then adds the version or address
  Outgoing callThen(
      RemoteObject object,
      SharedCall to,
      byte[] call,
      Existence existence,
      java.util.function.Consumer<Call.Builder> then) {
    Container container = object.container();
    Call.Builder made = call(container, call, existence);
    then.accept(made);
    var request =
        Request.newBuilder().setTimeMillis(RemoteObject.timeMillis(to, timeMillis)).setCall(made);
    return Outgoing.on(container, request, Outgoing.Recovery.READ, call.length);
  }

  private static Call.Builder call(Container container, byte[] call, Existence existence) {
    return call(call, existence).setContainer(container.number());
  }

  /// Returns a call on an object that has no container yet.
  static Call.Builder call(byte[] call, Existence existence) {
    return Call.newBuilder()
        .setExistence(MessageForms.existence(existence))
        .setCall(UnsafeByteOperations.unsafeWrap(call));
  }

  /// Returns the deletion of an object, within the time limit of its proxy.
  Request.Builder delete(Container container, SharedCall to) {
    return delete(container, to.ending()).setTimeMillis(RemoteObject.timeMillis(to, timeMillis));
  }

  /// Returns the deletion of an object.
  Request.Builder delete(Container container, Existence existence) {
    return Request.newBuilder()
        .setDelete(
            Delete.newBuilder()
                .setContainer(container.number())
                .setExistence(MessageForms.existence(existence)));
  }

  // ---- answers

  /// Returns an answer that is no failure.
  ///
  /// @throws RuntimeException the failure
  Answer sound(Answer answer) {
    if (answer.hasFailure()) throw failures.of(answer.getFailure());
    return answer;
  }

  /// Returns the exception of a failure.
  RuntimeException failure(Failure failure) {
    return failures.of(failure);
  }

  /// Returns the answer of a call.
  ///
  /// @param container of the object, if it is known
  Answered answered(Answer answer, @Nullable Container container) {
    if (answer.hasFailure()) {
      Failure refusal = container == null ? null : container.refusal;
      throw failures.of(refusal == null ? answer.getFailure() : refusal);
    }
    return answer.getAnswered();
  }

  /// Returns the value of an answer.
  ///
  /// @throws Throwable what the method threw; its trace has the frames at the server, and then
  ///   those of the caller
  @Nullable Object value(Answered answered) throws Throwable {
    byte[] encoded = bytes(answered.getAnswer());
    if (encoded[0] == ObjectAnswer.THREW) {
      throw ReceivedFailures.asked(marshaller.thrown(encoded, 1, encoded.length));
    }
    return ObjectAnswer.get(encoded, marshaller);
  }

  /// Returns the answer, for decoding at a place.
  static ObjectAnswer travelling(Answered answered) {
    byte[] bytes = bytes(answered.getAnswer());
    return new ObjectAnswer.Travelling(
        bytes[0], java.util.Arrays.copyOfRange(bytes, 1, bytes.length));
  }

  static byte[] bytes(ByteString string) {
    return string.toByteArray();
  }
}
