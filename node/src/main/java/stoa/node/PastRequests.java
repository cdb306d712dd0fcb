package stoa.node;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Closed;
import stoa.LimitExceeded;
import stoa.LogAddress;
import stoa.Snapshot;
import stoa.objects.ObjectService;
import stoa.store.calls.KeyEntry;
import stoa.store.past.Pins;
import stoa.wire.FrameLimits;
import stoa.wire.MessageForms;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Call;
import stoa.wire.proto.Done;
import stoa.wire.proto.EntriesAre;
import stoa.wire.proto.Entry;
import stoa.wire.proto.Pin;
import stoa.wire.proto.SnapshotIs;
import stoa.wire.proto.Snapshots;
import stoa.wire.proto.Trim;
import stoa.wire.proto.Unpin;

/// Executes requests on the past: earlier states, entries of streams, and retention. Thread-safe.
final class PastRequests {
  // The most versions of one read.
  private static final int PART_MAX = 256;

  private final ServedGroup served;
  private final ObjectService service;

  PastRequests(ServedGroup served) {
    this.served = served;
    this.service = served.service();
  }

  // ---- objects

  /// Returns whether a call asks for an earlier state.
  static boolean isOfPast(Call call) {
    return call.getPlaceCase() != Call.PlaceCase.PLACE_NOT_SET;
  }

  void call(PendingRequest asked, Call call) {
    OpenObject container = asked.session().container(call.getContainer());
    container
        .lane()
        .slow(() ->
            asked.attempt(() -> {
              ObjectService.Call made = Forms.call(container.object(), call);
              byte[] answer =
                  call.getPlaceCase() == Call.PlaceCase.ADDRESS
                      ? service.past().ask(made, MessageForms.at(call.getAddress()))
                      : service.past().ask(made, call.getVersion());
              return Forms.answered(answer, 0, service.moment());
            }));
  }

  void entries(PendingRequest asked, stoa.wire.proto.Entries entries) {
    asked.onObject(
        entries.getContainer(),
        object -> {
          var all = EntriesAre.newBuilder();
          long bytes = 0;
          long from = entries.getFrom();
          List<KeyEntry> part;
          do {
            long last = Math.min(entries.getTo(), Math.max(from, 1) + PART_MAX - 1);
            part = service.past().events(object, from, last);
            for (KeyEntry event : part) {
              Entry entry = EntryForm.of(event);
              all.addEntries(entry);
              bytes += entry.getSerializedSize();
            }
            if (bytes > FrameLimits.BYTES_MAX) {
              throw new LimitExceeded(
                  "the versions from "
                      + entries.getFrom()
                      + " to "
                      + entries.getTo()
                      + " take more than a frame has, which is "
                      + FrameLimits.BYTES_MAX
                      + " bytes; ask for less at once");
            }
            from = last + 1;
          } while (!part.isEmpty() && from <= entries.getTo());
          return Forms.answer(service.moment()).setEntries(all);
        });
  }

  /// Begins a trim, after the pins and the ends of pins and transactions that came before it.
  void trim(PendingRequest asked, Trim trim) {
    if (asked.isLost()) return;
    asked.onObjectAfter(
        asked.session().holdChanges.settled(),
        trim.getContainer(),
        object -> Forms.done(service.past().trim(object, trim.getBefore())));
  }

  // ---- snapshots

  Answer.Builder take(String name) {
    return snapshots(List.of(service.past().takeSnapshot(name)));
  }

  Answer.Builder find(String name) {
    @Nullable Snapshot found = service.past().findSnapshot(name);
    return snapshots(found == null ? List.of() : List.of(found));
  }

  Answer.Builder all() {
    return snapshots(service.past().snapshots());
  }

  Answer.Builder delete(String name) {
    return Forms.done(service.past().deleteSnapshot(name) ? 1 : 0);
  }

  private Answer.Builder snapshots(List<Snapshot> all) {
    var told = Snapshots.newBuilder();
    for (Snapshot snapshot : all) {
      told.addSnapshots(
          SnapshotIs.newBuilder()
              .setName(snapshot.name().orElse(""))
              .setAt(MessageForms.at(snapshot.address())));
    }
    return Forms.answer(service.moment()).setSnapshots(told);
  }

  // ---- pins

  /// Begins to pin, after earlier requests for the same pin.
  void pin(PendingRequest asked, Pin pin) {
    Session session = asked.session();
    Runnable pinning = session.holdChanges.noted(() -> asked.attempt(() -> pin(session, pin)));
    session.threads.pins().slow(pin.getPin(), pinning);
  }

  private Answer.Builder pin(Session session, Pin pin) {
    if (session.pins.size() >= served.config().containersMax()) {
      throw new LimitExceeded(
          "the session holds " + session.pins.size() + " snapshots; close some");
    }
    Pins.Pin made = service.past().pin(pin.hasAt() ? MessageForms.at(pin.getAt()) : null);
    Pins.Pin before = session.pins.put(pin.getPin(), made);
    if (before != null) before.close();
    if (session.isEnded()) {
      // The session ended meanwhile, and may not have closed this pin.
      session.pins.remove(pin.getPin(), made);
      made.close();
      throw new Closed("the session has ended");
    }
    var address =
        pin.hasAt()
            ? MessageForms.at(pin.getAt())
            : new LogAddress(service.epoch(), made.counter());
    return Forms.answer(made.counter()).setDone(Done.newBuilder().setAt(MessageForms.at(address)));
  }

  /// Begins to end a pin, after earlier requests for the same pin.
  void unpin(PendingRequest asked, Unpin unpin) {
    Session session = asked.session();
    Runnable unpinning =
        session.holdChanges.noted(() ->
            asked.letGo(() -> {
              Pins.Pin pin = session.pins.remove(unpin.getPin());
              if (pin != null) pin.close();
            }));
    session.threads.pins().quick(unpin.getPin(), unpinning);
  }
}
