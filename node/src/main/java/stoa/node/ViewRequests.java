package stoa.node;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.util.LinkedHashMap;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.objects.ObjectService;
import stoa.objects.ViewService;
import stoa.store.past.Shipment;
import stoa.store.records.Records;
import stoa.wire.FrameLimits;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Change;
import stoa.wire.proto.Changes;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.FetchPart;
import stoa.wire.proto.Follow;
import stoa.wire.proto.State;
import stoa.wire.proto.Unfollow;

/// Executes requests of clients that keep states of objects themselves. Thread-safe.
final class ViewRequests {
  // A state of fewer bytes is sent whole: it is hardly larger than a change.
  private static final int CHANGES_MIN = 1 << 10;

  private final ObjectService service;
  private final LargeStates large = new LargeStates();
  private final Digests digests = new Digests();

  ViewRequests(ObjectService service) {
    this.service = service;
  }

  void follow(PendingRequest asked, Follow follow) {
    Session session = asked.session();
    int container = follow.getContainer();
    asked.onObject(
        container,
        object -> {
          session.unfollow(container);
          session.watches.put(
              container,
              service.views().watch(object, counter -> session.changed(container, counter)));
          if (session.isEnded() || !session.containers.containsKey(container)) {
            // The session ended, or the client closed the object. This watch may have missed it.
            session.unfollow(container);
          }
          return Forms.done();
        });
  }

  void unfollow(PendingRequest asked, Unfollow unfollow) {
    asked.session().unfollow(unfollow.getContainer());
    asked.answer(Forms.done());
  }

  void fetch(PendingRequest asked, Fetch fetch) {
    asked.onObject(fetch.getContainer(), object -> new Fetching(asked, fetch, object).answer());
  }

  void part(PendingRequest asked, FetchPart part) {
    asked.onObject(
        part.getContainer(),
        object -> {
          byte[] state = large.find(object.key(), part.getNumber());
          if (state == null || part.getOffset() < 0 || part.getOffset() > state.length) {
            throw new LimitExceeded(
                "the server no longer has the state of %s of which bytes from %d on are asked; fetch"
                        .formatted(object.key(), part.getOffset())
                    + " it again");
          }
          int from = (int) part.getOffset();
          int length = Math.min(state.length - from, FrameLimits.BYTES_AIM);
          return Answer.newBuilder().setData(ByteString.copyFrom(state, from, length));
        });
  }

  /// The answer to one question for a state.
  private final class Fetching {
    private final PendingRequest asked;
    private final Fetch fetch;
    private final ObjectService.Container object;

    private Fetching(PendingRequest asked, Fetch fetch, ObjectService.Container object) {
      this.asked = asked;
      this.fetch = fetch;
      this.object = object;
    }

    private Answer.Builder answer() {
      if (!fetch.hasReplays()) return whole(plain());
      Shipment next = ship(CHANGES_MIN);
      if (next != null) return shipped(next);
      ViewService.State plain = plain();
      byte[] checkpoint = plain.checkpoint();
      if (checkpoint == null || checkpoint.length < CHANGES_MIN) return whole(plain);
      Shipment begins = ship(0);
      return begins == null ? whole(plain) : shipped(begins);
    }

    private @Nullable Shipment ship(int basedMin) {
      var replays = fetch.getReplays();
      long after = replays.getAfter() - 1;
      long known = fetch.getUnlessVersion() - 1;
      var from =
          new Shipment.From(after, replays.getGeneration(), known, basedMin, FrameLimits.BYTES_AIM);
      byte[] code = replays.getCode().toByteArray();
      StreamId version = code.length == 0 ? null : new Decoder(code).id();
      return service.views().ship(object, version, from, asked::maySee);
    }

    private ViewService.State plain() {
      return service.views().fetch(object, fetch.getUnlessVersion() - 1);
    }

    private Answer.Builder whole(ViewService.State state) {
      long unless = fetch.getUnlessVersion() - 1;
      var told =
          State.newBuilder()
              .setVersion(state.version())
              .setGeneration(state.generation())
              .setFrom(state.from());
      byte[] checkpoint = state.checkpoint();
      if (checkpoint != null) checkpoint(told, checkpoint);
      told.setUnchanged(unless >= 0 && state.version() == unless && checkpoint == null);
      return Forms.answer(state.from()).setState(told);
    }

    private Answer.Builder shipped(Shipment shipment) {
      var told =
          State.newBuilder()
              .setVersion(shipment.version())
              .setGeneration(shipment.generation())
              .setFrom(shipment.from());
      Shipment.Base base = shipment.base();
      if (base == null && shipment.changes().isEmpty()) {
        return Forms.answer(shipment.from()).setState(told.setUnchanged(true));
      }
      long after = base == null ? fetch.getReplays().getAfter() - 1 : base.version();
      byte[] checkpoint = base == null ? null : base.checkpoint();
      var changes = Changes.newBuilder().setAfter(after).setMore(shipment.more());
      if (checkpoint != null) {
        changes.setCode(ViewService.code(checkpoint));
        checkpoint(told, ViewService.told(checkpoint));
      }
      shipment.changes().forEach(change -> changes.addChanges(change(change)));
      if (base == null && shipment.checkpoint() != 0) digest(changes, shipment.checkpoint());
      return Forms.answer(shipment.from()).setState(told.setChanges(changes));
    }

    private void digest(Changes.Builder changes, long version) {
      ViewService.Digest digest = digests.of(object, version);
      if (digest == null) return;
      changes
          .setCheckpoint(version)
          .setForm(digest.form())
          .setDigest(ByteString.copyFrom(new Encoder(16).id(digest.digest()).toBytes()));
    }

    private void checkpoint(State.Builder told, byte[] checkpoint) {
      if (checkpoint.length <= FrameLimits.BYTES_AIM || !fetch.getParts()) {
        told.setCheckpoint(UnsafeByteOperations.unsafeWrap(checkpoint));
        return;
      }
      told.setParts(large.keep(object.key(), checkpoint))
          .setBytes(checkpoint.length)
          .setCheckpoint(ByteString.copyFrom(checkpoint, 0, FrameLimits.BYTES_AIM));
    }
  }

  private static Change change(Shipment.Change change) {
    var told = Change.newBuilder().setVersion(change.address());
    Records.Put put = change.put();
    if (put == null) return told.setCheckpoint(true).build();
    told.setSeed(change.seed())
        .setNowMicros(change.nowMicros())
        .setValue(UnsafeByteOperations.unsafeWrap(put.value()))
        .setBegins(put.begins())
        .setCode(put.code())
        .setCopied(put.copied());
    byte[] opening = put.opening();
    if (opening != null) {
      told.setHasOpening(true).setOpening(UnsafeByteOperations.unsafeWrap(opening));
    }
    change.answers().forEach(one -> told.addAnswers(UnsafeByteOperations.unsafeWrap(one)));
    return told.build();
  }

  /// The digests of the last checkpoints of objects that clients follow. Thread-safe.
  private final class Digests {
    private static final int DIGESTS_MAX = 256;

    private record At(Key key, long version) {}

    // Guarded by this.
    private final LinkedHashMap<At, ViewService.Digest> known =
        new LinkedHashMap<>(16, 0.75f, true);

    private ViewService.@Nullable Digest of(ObjectService.Container object, long version) {
      var at = new At(object.key(), version);
      synchronized (this) {
        ViewService.Digest found = known.get(at);
        if (found != null) return found;
      }
      ViewService.Digest made = service.views().digest(object, version);
      if (made == null) return null;
      synchronized (this) {
        known.put(at, made);
        if (known.size() > DIGESTS_MAX) known.pollFirstEntry();
      }
      return made;
    }
  }
}
