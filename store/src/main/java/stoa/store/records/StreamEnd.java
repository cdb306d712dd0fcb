package stoa.store.records;

import org.jspecify.annotations.Nullable;
import stoa.base.Footprint;
import stoa.base.Key;

/// The end of a key's stream as it will be when the batch in progress commits.
///
/// The batch writer owns it: the thread that writes the batch in progress.
public abstract class StreamEnd {
  public static final long UNKNOWN = -1;

  /// The log counters of the last changes, by their footprints. Changes of other code, and changes
  /// from before the key came into memory, count as changes of everything. A transaction that began
  /// before such a change, and uses the key only now, may lose without need; its next attempt does
  /// not.
  ///
  /// @param code the number of the code that says what parts are
  /// @param unkeyed the last change of more than one part
  /// @param firm the last change that does not commute
  /// @param ofAll the last change that is both
  private record LastChanges(int code, long unkeyed, long firm, long ofAll) {
    LastChanges with(Footprint footprint, long counter) {
      return new LastChanges(
          code,
          footprint.keyed() ? unkeyed : counter,
          footprint.commuting() ? firm : counter,
          footprint.isAll() ? counter : ofAll);
    }
  }

  public final Key key;

  /// The last address of the stream.
  public long nextTail;

  /// The address at which the key's generation began, 0 when the key is absent.
  public long nextGeneration;

  /// The address under which the directory of the key's space lists that generation.
  public long nextListed;

  /// Whether a generation of the key has ended.
  public boolean everDeleted;

  /// The log counter of the last put or deletion; UNKNOWN while that is older than this instance.
  public long nextChange = UNKNOWN;

  /// The log counter of the last logged checkpoint in this process, 0 when there is none.
  public long nextCheckpoint;

  /// The log counter of the last entry of any kind in this process.
  public long nextEntry;

  // The last changes by their footprints; null when all changes in this process were of everything.
  private @Nullable LastChanges nextChanges;

  private int mark;

  // Whether the batch in progress changes the end.
  private boolean touched;

  /// The fields of an end before the first change of a batch. Most keys in memory are in no batch,
  /// so that an end does not have these fields itself.
  static final class Committed {
    private long change;
    private @Nullable LastChanges changes;
    private long checkpoint;
    private long tail;
    private long generation;
    private long listed;
    private boolean deleted;
  }

  public StreamEnd(Key key) {
    this.key = key;
  }

  /// Notes how far puts have executed and the stream has everything that the store logs about them.
  /// Returns the address of the last such put.
  public abstract long advanceSettled();

  /// Returns the log counter of the last put or deletion, including the batch in progress. The
  /// caller has asked for the committed one before.
  public abstract long lastChange();

  /// Returns the log counter of the last change with which a footprint conflicts, except for
  /// changes of its part, or a greater one.
  final long lastAgainst(Footprint footprint) {
    LastChanges known = nextChanges;
    if (footprint.isAll() || known == null || known.code != footprint.code()) return lastChange();
    if (!footprint.commuting()) return known.unkeyed;
    return footprint.keyed() ? known.ofAll : known.firm;
  }

  /// Notes a change.
  final void changes(Footprint footprint, long counter) {
    LastChanges known = nextChanges;
    if (!footprint.isAll() && (known == null || known.code != footprint.code())) {
      long before = lastChange() == UNKNOWN ? counter : lastChange();
      known = new LastChanges(footprint.code(), before, before, before);
    }
    if (known != null) nextChanges = known.with(footprint, counter);
    nextChange = counter;
  }

  /// Returns the mark of the last transaction that its batch found to change the key.
  public final int mark() {
    return mark;
  }

  /// Sets the mark; returns the one before.
  public final int mark(int next) {
    int before = mark;
    mark = next;
    return before;
  }

  /// Returns whether the batch in progress has changed the end.
  final boolean isTouched() {
    return touched;
  }

  /// Saves the committed fields before the first change of a batch.
  final void touch(Committed to) {
    touched = true;
    to.tail = nextTail;
    to.change = nextChange;
    to.changes = nextChanges;
    to.checkpoint = nextCheckpoint;
    to.generation = nextGeneration;
    to.listed = nextListed;
    to.deleted = everDeleted;
  }

  /// Returns the distance from the last settled put to the next address.
  public final long behind() {
    return nextTail + 1 - advanceSettled();
  }

  /// Publishes the end when the batch is committed.
  public void publish() {
    touched = false;
  }

  /// Restores the committed fields when nothing of the batch was written.
  final void rollBack(Committed from) {
    touched = false;
    nextTail = from.tail;
    nextChange = from.change;
    nextChanges = from.changes;
    nextCheckpoint = from.checkpoint;
    nextGeneration = from.generation;
    nextListed = from.listed;
    everDeleted = from.deleted;
  }
}
