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

/// The deletions of blobs in progress, durably: when a crash interrupts one, the store completes it
/// when it opens again. Thread-safe.
///
/// ```
/// a versioned object of slots of 8 KiB, one for each deletion in progress; a slot:
///   used u8: 0 or 1; space text, name sized, generation varint
/// ```
final class Deletions {
  /// A deletion.
  ///
  /// @param space the space of the key
  /// @param name the name of the key
  /// @param generation the generation to delete
  @SuppressWarnings("ArrayRecordComponent") // a carrier; no code compares it
  record Deletion(String space, byte[] name, long generation) {}

  /// A deletion in progress.
  ///
  /// @param slot the slot of its note
  /// @param deletion the deletion
  record Noted(int slot, Deletion deletion) {}

  private static final int SLOT_BYTES = 8 << 10;

  private final ByteObject object;
  private final ConcurrentHashMap<StreamId, Boolean> underWay = new ConcurrentHashMap<>();
  private final ReentrantLock slots = new ReentrantLock();
  private final BitSet used = new BitSet(); // guarded by slots

  Deletions(ByteObject object) {
    this.object = object;
  }

  /// Returns the deletions that an earlier process did not finish. Called once, before any other
  /// method.
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

  /// Notes a deletion durably, before it begins; returns its note.
  ///
  /// @param id the id of the blob's bytes
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

  /// Returns whether a blob is being deleted, or was deleted and still takes space.
  boolean isUnderWay(StreamId id) {
    return underWay.containsKey(id);
  }

  /// Notes that this process continues a deletion of an earlier one.
  void resumed(StreamId id) {
    underWay.put(id, true);
  }

  /// Removes the note of a complete deletion.
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
