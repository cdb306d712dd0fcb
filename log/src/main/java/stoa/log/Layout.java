package stoa.log;

import java.util.OptionalInt;
import java.util.SortedSet;
import stoa.base.Check;
import stoa.base.StreamId;

/// Maps streams to shards, and log addresses to log units (vCorfu, section 3.1 and Figure 3): the
/// stream id, or the address, modulo the number of shards.
///
/// Immutable. Each shard has a log unit and a stream unit.
///
/// @param shards the number of shards
/// @param copies what a log unit keeps
public record Layout(int shards, Copies copies) {

  /// The part of an entry that a log unit keeps once the entry is in its streams.
  public enum Copies {
    /// Its place.
    REFERENCE,
    /// All of it, so that a lost shard can be rebuilt from the others.
    FULL
  }

  public Layout {
    Check.that(shards > 0, "a layout has shards, not %s", shards);
    Check.that(
        copies == Copies.REFERENCE || shards > 1, "a full copy needs a second shard to lie in");
  }

  /// Returns the shard of a stream.
  public int shard(StreamId stream) {
    long carry = (Long.remainderUnsigned(-1, shards) + 1) % shards;
    long high = Long.remainderUnsigned(stream.high(), shards);
    long low = Long.remainderUnsigned(stream.low(), shards);
    return (int) ((high * carry + low) % shards);
  }

  /// Returns the shard whose log unit settles a log address.
  public int logUnit(long counter) {
    return (int) Long.remainderUnsigned(counter, shards);
  }

  /// Returns the shard of the second log unit of a record, if the first one and one stream unit
  /// would not survive the loss of a shard: then two shards have everything that is visible.
  ///
  /// @param participants the shards of the record's entries
  public OptionalInt copy(long counter, SortedSet<Integer> participants) {
    int first = logUnit(counter);
    boolean alone = participants.size() < 2 && !participants.contains(first);
    return copies == Copies.REFERENCE || alone
        ? OptionalInt.empty()
        : OptionalInt.of((first + 1) % shards);
  }
}
