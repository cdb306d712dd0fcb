package stoa.storage;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import stoa.base.Decoder;
import stoa.base.StreamId;
import stoa.storage.index.Index;
import stoa.storage.object.ObjectChanges;
import stoa.storage.object.ObjectNote;
import stoa.storage.segment.Item;
import stoa.storage.segment.ItemVisitor;
import stoa.storage.segment.RecordFormat;

/// Brings the records of the log into the index while the device is opened. One owner uses it.
final class Replay implements ItemVisitor {
  private final Index index;
  private final ObjectChanges changes;
  // The notes of the visited record.
  private final List<Note> notes = new ArrayList<>();

  /// A note that waits for the end of its record: only then is its place in the log known.
  private record Note(int kind, StreamId object, byte[] data, long position) {}

  Replay(Index index, ObjectChanges changes) {
    this.index = index;
    this.changes = changes;
  }

  @Override
  public void item(Item item) {
    switch (item.kind) {
      case RecordFormat.ITEM_RECORD, RecordFormat.ITEM_TRIM -> index.insert(item);
      case RecordFormat.ITEM_DATA, ObjectNote.ATTRIBUTE -> {
        // Notes refer to these.
      }
      default ->
          notes.add(
              new Note(item.kind, new StreamId(item.high, item.low), item.data(), item.position));
    }
  }

  @Override
  public void recordEnd(long position, long next) {
    try {
      for (var note : notes) {
        var in = new Decoder(note.data);
        var decoded = ObjectNote.decode(note.kind, in, note.position, position);
        if (decoded == null) throw new IllegalStateException("broken invariant: a known kind");
        changes.apply(note.object, decoded, note.position, position, note.data.length);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    notes.clear();
    if (index.publish(next)) index.flushNow();
  }
}
