package stoa.store.running;

import stoa.base.Key;

/// What is kept of the past of keys, as the keys change.
public interface Keeper {
  /// A change of a key comes. Keeps the live state if it forks cheaply and a reader holds what is
  /// seen now.
  ///
  /// @param from the log counter of the last change that it reflects
  /// @param change what comes
  /// @param address the stream address of what comes
  void changes(Resident resident, Materialized live, long from, ChangeRequest change, long address);

  /// Keeps a checkpoint of a key.
  ///
  /// @throws stoa.Closed when this follows, and has ended meanwhile
  void checkpoint(Key key, long generation, long address, byte[] state);

  /// A key was deleted.
  ///
  /// @param address the stream address of the deletion
  void deleted(Key key, long address);

  /// The generation of a key right after what is at an address of its stream, 0 when the key was
  /// absent.
  long generationAfter(Key key, long address);
}
