package stoa.node;

import com.google.protobuf.ByteString;
import stoa.store.calls.KeyEntry;
import stoa.wire.MessageForms;
import stoa.wire.proto.Entry;

/// The form in which entries of an object's stream travel to a client.
final class EntryForm {
  private EntryForm() {}

  static Entry of(KeyEntry event) {
    var stored = event.entry();
    var entry =
        Entry.newBuilder()
            .setVersion(stored.address())
            .setAt(MessageForms.at(stored.log()))
            .setNowMicros(stored.nowMicros());
    switch (event.event()) {
      case KeyEntry.What.Put(byte[] value, _) ->
          entry.setKind(Entry.Kind.PUT).setValue(ByteString.copyFrom(value));
      case KeyEntry.What.Answered(long call, String space, byte[] name) ->
          entry
              .setKind(Entry.Kind.ANSWERED)
              .setCall(call)
              .setType(space)
              .setKey(ByteString.copyFrom(name));
      case KeyEntry.What.TakenBack(long call, String reason) ->
          entry.setKind(Entry.Kind.TAKEN_BACK).setCall(call).setReason(reason);
      case KeyEntry.What.Stood(long call) -> entry.setKind(Entry.Kind.STOOD).setCall(call);
      case KeyEntry.What.Deleted() -> entry.setKind(Entry.Kind.DELETED);
    }
    return entry.build();
  }
}
