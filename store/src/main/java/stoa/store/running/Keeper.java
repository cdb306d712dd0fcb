package stoa.store.running;

import stoa.base.Key;

/// Keeps the past of keys as the keys change.
public interface Keeper {
  /// Prepares for a change of a key. Keeps the live state if it forks cheaply and a reader has
  /// pinned the present.
  ///
  /// @param from the log counter of the last change that the state reflects
  /// @param change the change that comes next
  /// @param address the stream address of that change
  void changes(Resident resident, Materialized live, long from, ChangeRequest change, long address);

  /// Keeps a checkpoint of a key.
  ///
  /// @throws stoa.Closed when this store follows another one and has ended in the meantime
  void checkpoint(Key key, long generation, long address, byte[] state);

  /// Notes the deletion of a key.
  ///
  /// @param address the stream address of the deletion
  void deleted(Key key, long address);

  /// Returns the generation of a key right after the entry at an address of its stream, 0 when the
  /// key was absent.
  long generationAfter(Key key, long address);
}
