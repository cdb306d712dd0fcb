package stoa.client;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Texts;
import stoa.front.Service;
import stoa.wire.MessageForms;
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
  /// The held places, by the numbers that servers know, so that parts that open later, and
  /// restarted servers, can hold them too. Thread-safe.
  static final class HeldPlaces {
    private final AtomicLong numbers = new AtomicLong();
    private final Map<Long, LogAddress> addresses = new ConcurrentHashMap<>();
  }

  private final RemotePart stoa;
  private final Conversation conversation;

  RemoteSnapshots(RemotePart stoa, Conversation conversation) {
    this.stoa = stoa;
    this.conversation = conversation;
  }

  /// Holds the present, or an address. The other open parts hold it as soon as they receive the
  /// request.
  Service.Pinned take(@Nullable LogAddress at) {
    RemoteService parts = stoa.service();
    HeldPlaces held = parts.held();
    long number = held.numbers.incrementAndGet();
    LogAddress address = MessageForms.at(stoa.ask(pin(number, at)).getDone().getAt());
    held.addresses.put(number, address);
    for (RemotePart part : parts.open()) {
      if (part != stoa) part.conversation().tell(pin(number, address));
    }
    return new Service.Pinned(address, () -> letGo(parts, number));
  }

  private static Outgoing pin(long number, @Nullable LogAddress at) {
    var pin = Pin.newBuilder().setPin(number);
    if (at != null) pin.setAt(MessageForms.at(at));
    return Outgoing.of(Request.newBuilder().setPin(pin), Outgoing.Recovery.READ, 16);
  }

  private static void letGo(RemoteService parts, long number) {
    if (parts.held().addresses.remove(number) == null) return;
    for (RemotePart part : parts.open()) {
      var unpin = Request.newBuilder().setUnpin(Unpin.newBuilder().setPin(number));
      Outgoing end = Outgoing.of(unpin, Outgoing.Recovery.READ, 16);
      part.conversation().tell(parts.holdEnds().noted(part.group(), end));
    }
  }

  /// Repeats the requests to hold places, since the server does not know or has forgotten them.
  void forgotten() {
    stoa.service()
        .held()
        .addresses
        .forEach((number, address) -> conversation.tell(pin(number, address)));
  }

  private List<SnapshotIs> ask(Request.Builder request, Outgoing.Recovery recovery) {
    return stoa.ask(Outgoing.of(request, recovery, 1_024)).getSnapshots().getSnapshotsList();
  }

  private static Service.Named named(SnapshotIs snapshot) {
    return new Service.Named(snapshot.getName(), MessageForms.at(snapshot.getAt()));
  }

  Service.Named take(String name) {
    Texts.check(name, "the snapshot name");
    var taken =
        ask(
            Request.newBuilder().setTakeSnapshot(TakeSnapshot.newBuilder().setName(name)),
            Outgoing.Recovery.UNKNOWN);
    return named(taken.getFirst());
  }

  Service.@Nullable Named find(String name) {
    Texts.check(name, "the snapshot name");
    var found =
        ask(
            Request.newBuilder().setFindSnapshot(FindSnapshot.newBuilder().setName(name)),
            Outgoing.Recovery.READ);
    return found.isEmpty() ? null : named(found.getFirst());
  }

  List<Service.Named> all() {
    var found =
        ask(
            Request.newBuilder().setListSnapshots(ListSnapshots.getDefaultInstance()),
            Outgoing.Recovery.READ);
    return found.stream().map(RemoteSnapshots::named).toList();
  }

  boolean delete(String name) {
    Texts.check(name, "the snapshot name");
    var request = Request.newBuilder().setDeleteSnapshot(DeleteSnapshot.newBuilder().setName(name));
    return stoa.ask(Outgoing.of(request, Outgoing.Recovery.UNKNOWN, 1_024)).getDone().getNumber()
        != 0;
  }
}
