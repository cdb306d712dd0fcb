package stoa.raft.core;

import java.io.IOException;
import java.util.List;
import stoa.log.Position;

/// The place in which a [LogStore] keeps its contents. One owner: the log.
///
/// After an exception the log calls only [#close].
interface LogMedium extends AutoCloseable {
  /// The contents of a log, as they were found, or as they begin.
  ///
  /// @param earlier the positions of the last entries up to that of the head, as far as the medium
  ///   still has them
  /// @param items the entries after the position
  record Contents(LogHead head, List<Position> earlier, List<RaftEntry> items) {}

  /// Writes everything of a head.
  void head(LogHead head) throws IOException;

  /// Writes the term and the vote of a head.
  void term(LogHead head) throws IOException;

  /// Writes the position of a head. The entries after it stay.
  void position(LogHead head) throws IOException;

  /// Writes the position of a head. All entries are void.
  void positionAlone(LogHead head) throws IOException;

  /// Writes an entry, behind the last one.
  void entry(RaftEntry entry) throws IOException;

  /// Makes the entries from an index on void.
  void cut(long from) throws IOException;

  /// Makes everything written durable.
  ///
  /// @param head the present one
  void flush(LogHead head) throws IOException;

  /// Gives up the room of entries that are not needed.
  ///
  /// @param index of the last one of them
  void drop(long index) throws IOException;

  /// Returns how many files were written again.
  int reused();

  @Override
  void close();
}
