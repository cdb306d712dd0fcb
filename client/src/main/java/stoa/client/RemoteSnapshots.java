package stoa.client;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Snapshot;
import stoa.objects.ObjectSnapshot;
import stoa.objects.Place;
import stoa.wire.proto.DeleteSnapshot;
import stoa.wire.proto.FindSnapshot;
import stoa.wire.proto.ListSnapshots;
import stoa.wire.proto.Pin;
import stoa.wire.proto.Request;
import stoa.wire.proto.SnapshotIs;
import stoa.wire.proto.TakeSnapshot;
import stoa.wire.proto.Unpin;

/// The snapshots of a client: places in the log that the server holds for it, and those with names.
/// Thread-safe.
final class RemoteSnapshots {
  private final RemoteStoa stoa;
  private final Conversation conversation;
  private final AtomicLong pins = new AtomicLong();

  /// What is held, by pin, so that it can be held again by a server that was started again.
  private final Map<Long, LogAddress> held = new ConcurrentHashMap<>();

  RemoteSnapshots(RemoteStoa stoa, Conversation conversation) {
    this.stoa = stoa;
    this.conversation = conversation;
  }

  private Place place(LogAddress address) {
    return new Place(stoa.parts().whole(), stoa.marshaller(), address);
  }

  /// One of the present, or of an address.
  ObjectSnapshot take(@Nullable LogAddress at) {
    long number = pins.incrementAndGet();
    LogAddress address = Requests.at(stoa.ask(pin(number, at)).getDone().getAt());
    held.put(number, address);
    Map<Long, LogAddress> all = held;
    Conversation told = conversation;
    return ObjectSnapshot.held(stoa, place(address), () -> letGo(told, all, number));
  }

  private static Outgoing pin(long number, @Nullable LogAddress at) {
    var pin = Pin.newBuilder().setPin(number);
    if (at != null) pin.setAt(Requests.at(at));
    return Outgoing.of(Request.newBuilder().setPin(pin), Outgoing.Recovery.READ, 16);
  }

  private static void letGo(Conversation conversation, Map<Long, LogAddress> held, long number) {
    if (held.remove(number) == null) return;
    var unpin = Request.newBuilder().setUnpin(Unpin.newBuilder().setPin(number));
    conversation.tell(Outgoing.of(unpin, Outgoing.Recovery.READ, 16));
  }

  /// The server has forgotten what it held.
  void forgotten() {
    held.forEach((number, address) -> conversation.tell(pin(number, address)));
  }

  private List<SnapshotIs> ask(Request.Builder request, Outgoing.Recovery recovery) {
    return stoa.ask(Outgoing.of(request, recovery, 1_024)).getSnapshots().getSnapshotsList();
  }

  private ObjectSnapshot named(SnapshotIs snapshot) {
    return ObjectSnapshot.named(stoa, place(Requests.at(snapshot.getAt())), snapshot.getName());
  }

  Snapshot take(String name) {
    var taken =
        ask(
            Request.newBuilder().setTakeSnapshot(TakeSnapshot.newBuilder().setName(name)),
            Outgoing.Recovery.UNKNOWN);
    return named(taken.getFirst());
  }

  @Nullable Snapshot find(String name) {
    var found =
        ask(
            Request.newBuilder().setFindSnapshot(FindSnapshot.newBuilder().setName(name)),
            Outgoing.Recovery.READ);
    return found.isEmpty() ? null : named(found.getFirst());
  }

  List<Snapshot> all() {
    var found =
        ask(
            Request.newBuilder().setListSnapshots(ListSnapshots.getDefaultInstance()),
            Outgoing.Recovery.READ);
    return found.stream().<Snapshot>map(this::named).toList();
  }

  boolean delete(String name) {
    var request = Request.newBuilder().setDeleteSnapshot(DeleteSnapshot.newBuilder().setName(name));
    return stoa.ask(Outgoing.of(request, Outgoing.Recovery.UNKNOWN, 1_024)).getDone().getNumber()
        != 0;
  }
}
