package stoa.store.running;

import stoa.Unavailable;
import stoa.base.Key;
import stoa.store.threads.Threads;

/// Waits until the entries that the store logs about executed puts are in the streams of their
/// keys. Thread-safe.
public final class Barrier {
  private final Journal journal;
  private final Residents residents;
  private final Threads threads;

  public Barrier(Journal journal, Residents residents, Threads threads) {
    this.journal = journal;
    this.residents = residents;
    this.threads = threads;
  }

  /// Waits until the nested answers of all executed puts on a key are in its stream.
  public void await(Key key) {
    Resident resident = residents.pin(key);
    try {
      await(resident);
    } finally {
      resident.unpin();
    }
  }

  /// Does the same for a key that is pinned.
  public void await(Resident resident) {
    awaitNotes(resident);
    if (resident.lacksAnswer()) throw lacking(resident);
  }

  /// Does the same while the state of the key is loaded, which makes what was lost before.
  ///
  /// @param lost how many answers were lost when that began
  void awaitLoading(Resident resident, int lost) {
    awaitNotes(resident);
    if (resident.answersLost() != lost) throw lacking(resident);
  }

  private static Unavailable lacking(Resident resident) {
    return new Unavailable(
        "what "
            + resident.key
            + " was told by another object could not be logged, so its past cannot be read;"
            + " make room and read again");
  }

  /// Waits until no entry of a note is on its way into the stream of a key, and the changes of
  /// other keys are in the log that its executed puts have left to the store.
  public void awaitNotes(Resident resident) {
    awaitSequels(resident);
    while (resident.notesUnderWay() > 0) {
      if (!journal.writeBatch(null)) threads.pause();
    }
  }

  /// Waits until the changes of other keys are in the log that the executed puts of a key have left
  /// to the store.
  ///
  /// @throws Unavailable when they could not be logged
  void awaitSequels(Resident resident) {
    Sequels sequels = resident.sequels();
    if (sequels != null) sequels.await(journal, threads);
  }
}
