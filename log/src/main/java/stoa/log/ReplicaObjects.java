package stoa.log;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import stoa.base.StreamId;
import stoa.storage.Device;
import stoa.storage.object.ObjectReader;
import stoa.storage.object.ObjectSnapshot;
import stoa.storage.object.VersionedObject;
import stoa.storage.object.WriteTransaction;

/// Applies commands to the versioned objects of one replica's device. One owner uses it: the
/// applying thread.
final class ReplicaObjects {
  /*
   * Changes are not in one commit with their position, as batches are. After a crash those after
   * the recorded position come again, on a device that has their results, or on one that another
   * replica brought further. So each names its version or number, and is skipped where that exists.
   * Its input may be gone by then (a staged object, say), but only when its result is there, or
   * goes again with a later command that is there as well. None of them may fail except with the
   * device.
   */

  /// The most snapshots of an object; the leader refuses more.
  static final int SNAPSHOTS_MAX = 64;

  // How much of a staged object is in memory at a time.
  private static final int PIECE_BYTES = 4 << 20;

  private final Device device;

  ReplicaObjects(Device device) {
    this.device = device;
  }

  void apply(ObjectChange change) {
    VersionedObject object = device.object(change.id());
    switch (change) {
      case ObjectChange.Write write -> object.write(write.version(), write.offset(), write.data());
      case ObjectChange.Cut cut -> {
        try (var transaction = object.begin(cut.version())) {
          transaction.truncate(cut.size());
          transaction.commit();
        }
      }
      case ObjectChange.Finish finish -> {
        if (!object.versionState().contains(finish.version())) finish(object, finish);
        if (finish.staged() != 0) delete(device.object(ObjectChange.staged(finish.staged())));
      }
      case ObjectChange.Keep keep -> {
        if (object.exists() && object.snapshots().size() < SNAPSHOTS_MAX)
          object.keep(keep.number());
      }
      case ObjectChange.Release release -> object.snapshot(release.number()).release();
      case ObjectChange.Delete _ -> delete(object);
      case ObjectChange.Skip skip -> object.skip(skip.versions());
    }
  }

  private void finish(VersionedObject object, ObjectChange.Finish finish) {
    try (var transaction = object.begin(finish.version())) {
      if (finish.cut() >= 0) transaction.truncate(finish.cut());
      if (finish.staged() != 0) {
        copy(device.object(ObjectChange.staged(finish.staged())), transaction);
      }
      finish.attributes().forEach(transaction::attribute);
      finish.removed().forEach(transaction::removeAttribute);
      transaction.commit();
    }
  }

  private static void copy(VersionedObject from, WriteTransaction to) {
    // After a cut, everything behind it is a hole or was written later.
    from.history(
        0,
        Long.MAX_VALUE,
        extent -> {
          if (extent.content() == ObjectReader.Content.DATA) return true;
          to.truncate(extent.offset());
          return false;
        });
    from.history(
        0,
        Long.MAX_VALUE,
        extent -> {
          if (extent.content() != ObjectReader.Content.DATA) return true;
          for (long done = 0; done < extent.length(); ) {
            int length = (int) Math.min(PIECE_BYTES, extent.length() - done);
            long at = extent.offset() + done;
            to.write(at, ByteBuffer.wrap(from.read(at, length)));
            done += length;
          }
          return true;
        });
  }

  /// Deletes an object with its snapshots.
  static void delete(VersionedObject object) {
    for (ObjectSnapshot snapshot : object.snapshots()) snapshot.release();
    object.delete();
  }

  /// Deletes the parts of changes that earlier owners have begun: no owner ends them any more.
  ///
  /// @param term of the owner that begins
  void forget(long term) {
    List<StreamId> stale = new ArrayList<>();
    device.objects(
        new StreamId(ObjectChange.STAGED, 0),
        id -> {
          if (id.high() != ObjectChange.STAGED || ChangeLane.term(id.low()) >= term) return false;
          stale.add(id);
          return true;
        });
    for (StreamId id : stale) device.object(id).delete();
  }
}
