package stoa.store.blobs;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import stoa.Corrupt;
import stoa.base.Check;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.base.StreamId;
import stoa.log.ByteObject;
import stoa.storage.object.ObjectReader;

/// Which blobs are being deleted, durably: so that what a crash interrupts is done when the store
/// opens again. Thread-safe.
///
/// ```
/// a versioned object of slots of 8 KiB, one for each deletion under way; a slot:
///   used u8: 0 or 1; space text, name sized, generation varint
/// ```
final class Deletions {
  /// A deletion.
  ///
  /// @param space of the key
  /// @param name of the key
  /// @param generation that is deleted
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  record Deletion(String space, byte[] name, long generation) {}

  /// A deletion under way.
  ///
  /// @param slot where it is noted
  /// @param deletion what is deleted
  record Noted(int slot, Deletion deletion) {}

  private static final int SLOT_BYTES = 8 << 10;

  private final ByteObject object;
  private final ConcurrentHashMap<StreamId, Boolean> underWay = new ConcurrentHashMap<>();
  private final ReentrantLock slots = new ReentrantLock();
  private final BitSet used = new BitSet(); // guarded by slots

  Deletions(ByteObject object) {
    this.object = object;
  }

  /// What an earlier process did not finish. Called once, before anything else.
  List<Noted> earlier() {
    var found = new ArrayList<Noted>();
    ObjectReader noted = object.now();
    long size = noted.size();
    for (int slot = 0; (long) slot * SLOT_BYTES < size; slot++) {
      var in = new Decoder(noted.read((long) slot * SLOT_BYTES, SLOT_BYTES));
      try {
        if (in.u8() == 0) continue;
        found.add(new Noted(slot, new Deletion(in.text(), in.sized(), in.varint())));
      } catch (Decoder.MalformedException broken) {
        throw new Corrupt("the note of a deletion in slot " + slot + " is damaged", broken);
      }
      used.set(slot);
    }
    return found;
  }

  /// Notes that a blob will be deleted, durably, and answers where.
  ///
  /// @param id of its bytes
  Noted begin(StreamId id, Deletion deletion) {
    var out = new Encoder(deletion.name.length + 64).u8(1);
    out.text(deletion.space).sized(deletion.name).varint(deletion.generation);
    Check.that(out.size() <= SLOT_BYTES, "the key of %s fits into a slot", id);
    var noted = new Noted(take(), deletion);
    underWay.put(id, true);
    try {
      write(noted, out.toBytes());
    } catch (RuntimeException | Error failed) {
      underWay.remove(id);
      free(noted);
      throw failed;
    }
    return noted;
  }

  /// Whether a blob is being deleted, or was and still takes space.
  boolean isUnderWay(StreamId id) {
    return underWay.containsKey(id);
  }

  /// Says that what an earlier process did not finish is under way again.
  void resumed(StreamId id) {
    underWay.put(id, true);
  }

  /// Takes a note away: nothing is left to do.
  void end(StreamId id, Noted noted) {
    write(noted, new byte[1]);
    free(noted);
    underWay.remove(id);
  }

  private void write(Noted noted, byte[] bytes) {
    object.note((long) noted.slot * SLOT_BYTES, ByteBuffer.wrap(bytes));
  }

  private int take() {
    slots.lock();
    try {
      int slot = used.nextClearBit(0);
      used.set(slot);
      return slot;
    } finally {
      slots.unlock();
    }
  }

  private void free(Noted noted) {
    slots.lock();
    try {
      used.clear(noted.slot);
    } finally {
      slots.unlock();
    }
  }
}
