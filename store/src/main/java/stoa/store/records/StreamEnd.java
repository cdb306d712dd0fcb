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
  /// from before this process knew the key, count as changes of everything.
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

  private long oldChange;
  private @Nullable LastChanges oldChanges;
  private long oldCheckpoint;
  private long oldTail;
  private long oldGeneration;
  private long oldListed;
  private boolean oldDeleted;
  private boolean touched;

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

  /// Saves the committed fields before the first change of a batch; returns whether this call saved
  /// them.
  public final boolean touch() {
    if (touched) return false;
    touched = true;
    oldTail = nextTail;
    oldChange = nextChange;
    oldChanges = nextChanges;
    oldCheckpoint = nextCheckpoint;
    oldGeneration = nextGeneration;
    oldListed = nextListed;
    oldDeleted = everDeleted;
    return true;
  }

  /// Returns the distance from the last settled put to the next address.
  public final long behind() {
    return nextTail + 1 - advanceSettled();
  }

  /// Returns whether the batch changes the state of the key.
  public final boolean hasChanged() {
    return nextChange != oldChange;
  }

  /// Publishes the end when the batch is committed.
  public void publish() {
    touched = false;
  }

  /// Restores the committed fields when nothing of the batch was written.
  public final void rollBack() {
    touched = false;
    nextTail = oldTail;
    nextChange = oldChange;
    nextChanges = oldChanges;
    nextCheckpoint = oldCheckpoint;
    nextGeneration = oldGeneration;
    nextListed = oldListed;
    everDeleted = oldDeleted;
  }
}
