package stoa.store.records;

import stoa.base.Footprint;
import stoa.base.Key;

/// The end of a key's stream as it will be when the batch in progress commits.
///
/// The leader owns it: the thread that makes the batch.
public abstract class StreamEnd {
  public static final long UNKNOWN = -1;

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

  // The number of the code whose parts the last change of a part names; UNKNOWN before the first.
  private int nextCode = (int) UNKNOWN;

  // The log counter of the last change of more than one part, and of the last one that does not
  // commute. They count changes of other code, and from before this instance, as such changes.
  private long nextUnkeyed;
  private long nextFirm;

  private long oldChange;
  private int oldCode;
  private long oldUnkeyed;
  private long oldFirm;
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

  /// Returns the log counter of the last change of more than one part, or a greater one.
  ///
  /// @param asks for it
  final long lastUnkeyed(Footprint asks) {
    return nextCode == asks.code() ? nextUnkeyed : lastChange();
  }

  /// Returns the log counter of the last change that does not commute, or a greater one.
  ///
  /// @param asks for it
  final long lastFirm(Footprint asks) {
    return nextCode == asks.code() ? nextFirm : lastChange();
  }

  /// Notes a change.
  final void changes(Footprint footprint, long counter) {
    if (!footprint.isAll() && nextCode != footprint.code()) {
      long before = lastChange();
      nextUnkeyed = before == UNKNOWN ? counter : before;
      nextFirm = nextUnkeyed;
      nextCode = footprint.code();
    }
    if (!footprint.keyed()) nextUnkeyed = counter;
    if (!footprint.commuting()) nextFirm = counter;
    nextChange = counter;
  }

  /// Saves the committed fields before the first change of a batch; returns whether this call saved
  /// them.
  public final boolean touch() {
    if (touched) return false;
    touched = true;
    oldTail = nextTail;
    oldChange = nextChange;
    oldCode = nextCode;
    oldUnkeyed = nextUnkeyed;
    oldFirm = nextFirm;
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
    nextCode = oldCode;
    nextUnkeyed = oldUnkeyed;
    nextFirm = oldFirm;
    nextCheckpoint = oldCheckpoint;
    nextGeneration = oldGeneration;
    nextListed = oldListed;
    everDeleted = oldDeleted;
  }
}
