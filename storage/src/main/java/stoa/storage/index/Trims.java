package stoa.storage.index;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.storage.disk.CorruptData;
import stoa.storage.segment.Item;

/// The bounds up to which the record spaces of objects are trimmed: an entry with a lower offset is
/// invisible, whenever it was written. Any thread asks; the inserting thread of the index applies.
public final class Trims {
  /*
   * A trim is a note in the log, without data: its offset is the least one that stays. The index
   * has the note with the greatest offset for each record space of an object, in space TRIMS: so
   * recovery may read notes in any order and any number of times, and a trim need not touch the
   * entries below. The index drops these as it rewrites its runs, and leaves nothing in their
   * place, since all that they would have to hide is below the same bound. Reclaim carries the note
   * that the index points to, for ever: it also marks the beginning of the history.
   *
   * Every read asks, so a cache has the answers: in a slot for each hash, the last requested one.
   * An answer from a lookup goes into its slot only if the slot has not changed since before the
   * lookup, and a trim goes into its slot after the index shows it. So no slot has an answer that
   * is older than the last shown trim. A device without any trim needs no lookups: with the first
   * trim, the index gets a hole under an id of no object.
   */
  private static final int SLOTS = 4096;
  private static final StreamId ANY = StreamId.of("stoa/trims");

  private final Index index;
  private final AtomicReferenceArray<@Nullable Bound> slots = new AtomicReferenceArray<>(SLOTS);
  // The bounds that are applied and not shown yet.
  private final List<Bound> pending = new ArrayList<>();

  private volatile boolean any;

  private record Bound(long high, long low, int space, long before) {
    boolean is(long otherHigh, long otherLow, int otherSpace) {
      return low == otherLow && high == otherHigh && space == otherSpace;
    }
  }

  Trims(Index index) {
    this.index = index;
  }

  /// Returns whether an id is that of the hole, and of no object.
  public static boolean isOwn(StreamId id) {
    return id.equals(ANY);
  }

  /// Finds out whether there was any trim. Call it once, before the others.
  void open() throws IOException {
    try (var view = index.view()) {
      any = view.floor(ANY.high(), ANY.low(), Spaces.TRIMS, 0, new IndexEntry());
    } catch (CorruptData e) {
      any = true; // readers of the damaged part get the exception
    }
  }

  /// Returns the offset below which a record space of an object is trimmed; 0 when it never was.
  public long before(long high, long low, int space) throws IOException {
    if (!any) return 0;
    int slot = slot(high, low, space);
    var bound = slots.get(slot);
    if (bound != null && bound.is(high, low, space)) return bound.before;
    long before;
    try (var view = index.view()) {
      before = before(view, high, low, space, new IndexEntry());
    }
    var _ = slots.compareAndSet(slot, bound, new Bound(high, low, space, before));
    return before;
  }

  private static int slot(long high, long low, int space) {
    return (int) Memtable.hash(high, low, space) & (SLOTS - 1);
  }

  /// Returns the bound like [#before(long, long, int)], at the moment of a view.
  public static long before(IndexView view, long high, long low, int space, IndexEntry found)
      throws IOException {
    boolean any = view.floor(high, low, Spaces.TRIMS, space, found);
    return any && found.offset == space ? found.version : 0;
  }

  /// Returns whether a note has the present bound, so that its record space needs it.
  public static boolean isLast(IndexView view, Item note, IndexEntry found) throws IOException {
    return before(view, note.high, note.low, note.space, found) > 0
        && found.position == note.position;
  }

  /// Applies a note; shown with the next [#publish].
  void apply(Item note) {
    if (note.offset == 0) return; // there is nothing below
    if (!any) {
      var hole = new IndexEntry().set(0, note.position, 0, 0, 0, IndexEntry.HOLE);
      index.insert(ANY.high(), ANY.low(), Spaces.TRIMS, note.position, hole);
      any = true;
    }
    try (var view = index.view(Long.MAX_VALUE)) {
      var found = new IndexEntry();
      if (note.offset < before(view, note.high, note.low, note.space, found)) return;
      found.set(note.space, note.position, 0, 0, note.offset, IndexEntry.DATA);
      index.insert(note.high, note.low, Spaces.TRIMS, note.position, found);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    pending.add(new Bound(note.high, note.low, note.space, note.offset));
  }

  /// Shows the applied notes.
  void publish() {
    if (pending.isEmpty()) return;
    for (var bound : pending) slots.set(slot(bound.high, bound.low, bound.space), bound);
    pending.clear();
  }

  /// Returns the lookups of a walk over the index, at the moment of a view.
  public Walk walk(IndexView view) {
    return new Walk(view, any);
  }

  /// The lookups of a walk over the index in its order, at the moment of a view: it looks an
  /// untrimmed object up once. One owner uses it.
  public static final class Walk {
    private final IndexView view;
    private final IndexEntry found = new IndexEntry();
    private final boolean any;
    private boolean asked;
    private long high;
    private long low;
    private boolean trimmed;
    private int space;
    private long before;

    private Walk(IndexView view, boolean any) {
      this.view = view;
      this.any = any;
    }

    /// Returns the bound like [Trims#before(long, long, int)].
    public long before(long ofHigh, long ofLow, int ofSpace) throws IOException {
      if (!any) return 0;
      if (!asked || low != ofLow || high != ofHigh) {
        asked = true;
        high = ofHigh;
        low = ofLow;
        space = -1;
        trimmed = view.floor(ofHigh, ofLow, Spaces.TRIMS, Long.MAX_VALUE, found);
      }
      if (!trimmed) return 0;
      if (space != ofSpace) {
        before = Trims.before(view, ofHigh, ofLow, ofSpace, found);
        space = ofSpace;
      }
      return before;
    }
  }
}
