package stoa.log;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import stoa.base.StreamId;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionState;
import stoa.storage.object.VersionedObject;

/// An object of all replicas of a group, at the leader: a change is part of a command, and is
/// acknowledged when this replica has applied it. Thread-safe.
final class ReplicatedBytes implements ByteObject {
  private final ChangeLane lane;
  private final Runnable confirmation;
  private final StreamId id;
  private final VersionedObject object;

  /// Creates it.
  ///
  /// @param confirmation returns when it is certain that everything acknowledged is applied here
  ReplicatedBytes(ChangeLane lane, Runnable confirmation, StreamId id) {
    this.lane = lane;
    this.confirmation = confirmation;
    this.id = id;
    this.object = lane.device().object(id);
  }

  @Override
  public ObjectReader now() {
    confirmation.run();
    return object;
  }

  @Override
  public ObjectReader at(long number) {
    confirmation.run();
    return object.snapshot(number);
  }

  @Override
  public List<ObjectSnapshot> snapshots() {
    confirmation.run();
    return object.snapshots();
  }

  @Override
  public long write(long offset, ByteBuffer data) {
    return lane.run(ChangeLane.Room.OWN, data.remaining(), write(id, offset, data));
  }

  @Override
  public void note(long offset, ByteBuffer data) {
    lane.run(ChangeLane.Room.KEPT, data.remaining(), write(id, offset, data));
  }

  @Override
  public CompletableFuture<Long> writeAsync(long offset, ByteBuffer data) {
    return lane.submit(ChangeLane.Room.OWN, data.remaining(), write(id, offset, data));
  }

  /// Refuses what no replica could carry out.
  static void requireRange(long offset, long length) {
    if (offset < 0 || offset > Long.MAX_VALUE - length) {
      throw new IllegalArgumentException(
          "%d bytes at offset %d: offsets go from 0 to 2^63 - 2".formatted(length, offset));
    }
  }

  static ChangeLane.Order write(StreamId id, long offset, ByteBuffer data) {
    requireRange(offset, data.remaining());
    return versioned(given -> new ObjectChange.Write(id, given.next(id), offset, data));
  }

  /// Returns an order whose answer is its version.
  static ChangeLane.Order versioned(Function<ChangeLane.Given, ObjectChange> making) {
    return new ChangeLane.Order() {
      @Override
      public ObjectChange make(ChangeLane.Given given) {
        return making.apply(given);
      }

      @Override
      public long answer(ObjectChange made) {
        return switch (made) {
          case ObjectChange.Write write -> write.version();
          case ObjectChange.Cut cut -> cut.version();
          case ObjectChange.Finish finish -> finish.version();
          case ObjectChange.Keep keep -> keep.number();
          case ObjectChange.Release _, ObjectChange.Delete _, ObjectChange.Skip _ -> 0;
        };
      }
    };
  }

  @Override
  public ByteChange begin(long version) {
    return new StagedChange(lane, id, version);
  }

  @Override
  public void skip(VersionState versions) {
    int bytes = versions.toBytes().length;
    lane.run(ChangeLane.Room.OWN, bytes, versioned(_ -> new ObjectChange.Skip(id, versions)));
  }

  @Override
  public long snapshot() {
    return lane.run(
        ChangeLane.Room.KEPT,
        0,
        versioned(given -> {
          given.ensureKeepable(id);
          return new ObjectChange.Keep(id, lane.number());
        }));
  }

  @Override
  public void release(long number) {
    lane.run(ChangeLane.Room.KEPT, 0, versioned(_ -> new ObjectChange.Release(id, number)));
  }

  @Override
  public void delete() {
    lane.run(ChangeLane.Room.KEPT, 0, versioned(_ -> new ObjectChange.Delete(id)));
  }
}
