package stoa.node;

import com.google.protobuf.ByteString;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.objects.Errand;
import stoa.objects.ObjectService;
import stoa.store.running.StoreTransaction;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Answered;
import stoa.wire.proto.Call;
import stoa.wire.proto.Done;
import stoa.wire.proto.ObjectName;
import stoa.wire.proto.TransactionId;

/// Translates messages for the store, and its answers to messages.
final class Forms {
  private Forms() {}

  // ---- from clients

  static ObjectService.Call call(ObjectService.Container object, Call call) {
    return new ObjectService.Call(
        object, MessageForms.existence(call.getExistence()), call.getCall().toByteArray());
  }

  static StoreTransaction.Id id(TransactionId told, ObjectService service) {
    return new StoreTransaction.Id(
        service.key(told.getType(), told.getKey().toByteArray()),
        told.getVersion(),
        new StreamId(told.getMarkHigh(), told.getMarkLow()));
  }

  // ---- to clients

  /// Returns an answer.
  ///
  /// @param reach the log counter up to which the answer reaches
  static Answer.Builder answer(long reach) {
    return Answer.newBuilder().setReach(reach);
  }

  static Answer.Builder answered(byte[] answer, long generation, long reach) {
    return answer(reach)
        .setAnswered(
            Answered.newBuilder().setAnswer(ByteString.copyFrom(answer)).setGeneration(generation));
  }

  static Answer.Builder data(byte[] bytes, long reach) {
    return answer(reach).setData(ByteString.copyFrom(bytes));
  }

  static Answer.Builder done() {
    return Answer.newBuilder().setDone(Done.getDefaultInstance());
  }

  static Answer.Builder done(long number) {
    return done(number, 0);
  }

  static Answer.Builder done(long number, long other) {
    return Answer.newBuilder().setDone(Done.newBuilder().setNumber(number).setOther(other));
  }

  static stoa.wire.proto.Errand errand(Errand errand) {
    var made =
        stoa.wire.proto.Errand.newBuilder()
            .setGroup(errand.group())
            .setObject(name(errand.target()))
            .setClassName(errand.className())
            .setExistence(MessageForms.existence(errand.existence()))
            .setCall(ByteString.copyFrom(errand.call()))
            .setNested(errand.nested());
    errand.callers().forEach(caller -> made.addCallers(name(caller)));
    return made.build();
  }

  private static ObjectName name(Key key) {
    return ObjectName.newBuilder()
        .setType(key.space())
        .setKey(ByteString.copyFrom(key.name()))
        .build();
  }

  static TransactionId id(StoreTransaction.Id id) {
    return TransactionId.newBuilder()
        .setType(id.key().space())
        .setKey(ByteString.copyFrom(id.key().name()))
        .setVersion(id.tail())
        .setMarkHigh(id.mark().high())
        .setMarkLow(id.mark().low())
        .build();
  }
}
