package stoa.store.changes;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.Answer;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.StoredEntry;
import stoa.store.records.Records;

/// A change of a key that stands: its put was executed and not taken back, or its generation ended.
///
/// @param key the key
/// @param entry its entry in the stream of the key
/// @param put the put; null for a deletion
/// @param answer the answer of the put; null when it was not executed for the reader, and for a
///   deletion
/// @param before the state before it, as [stoa.store.running.Handler#checkpoint] encodes it; null
///   when the reader did not ask for it, and when the key was absent
/// @param after the state after it, likewise
@SuppressWarnings({"exports", "ArrayRecordComponent"}) // see the package; compared by no code
public record LoggedChange(
    Key key,
    StoredEntry entry,
    Records.@Nullable Put put,
    @Nullable Answer answer,
    byte @Nullable [] before,
    byte @Nullable [] after) {
  private static final long ENTRY_BYTES = 64;

  /// About how many bytes it takes.
  public long bytes() {
    long bytes = ENTRY_BYTES + entry.payload().length;
    if (before != null) bytes += before.length;
    return after == null ? bytes : bytes + after.length;
  }

  /// The parts of each change that a reader wants.
  public enum Detail {
    /// The put.
    CALLS,
    /// Also its answer.
    ANSWERS,
    /// Also the states before and after it.
    STATES
  }

  /// The question of a reader.
  ///
  /// @param space the space of the keys; null for all
  /// @param without the spaces that the reader does not ask for, when it asks for all others
  /// @param name the name of the one key; null for all of the space
  /// @param passUntil the log counter up to which changes that the store has released are passed
  ///   over; behind it they are an error
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  public record ChangeQuery(
      @Nullable String space,
      Set<String> without,
      byte @Nullable [] name,
      Detail detail,
      long passUntil) {
    /// Returns whether keys of a space are asked for.
    boolean hasSpace(String other) {
      return space == null ? !without.contains(other) : space.equals(other);
    }
  }

  /// The changes at a log address.
  public record Slot(LogAddress address, List<LoggedChange> changes) {}

  /// A bounded part of the changes.
  ///
  /// @param slots the changes, in the order of the log
  /// @param next the log address from which on there may be more
  /// @param level a log address that was issued, up to which a reader of these changes has all of
  ///   them; null when none but notes about readers were added
  /// @param bytes about how many bytes they take
  public record Page(List<Slot> slots, LogAddress next, @Nullable LogAddress level, long bytes) {}

  /// A key that is present at a place in the log.
  ///
  /// @param key the key
  /// @param version the stream address of its last change there
  /// @param micros the time of that change
  /// @param state its state, encoded
  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  public record Present(Key key, long version, long micros, byte[] state) {}

  /// A part of the keys of a space that are present at a place in the log.
  ///
  /// @param keys the keys, in the order in which they began
  /// @param next where the directory of the space goes on; 0 at its end
  public record Presents(List<Present> keys, long next) {}

  /// The knowledge that the layer above the store has of its keys.
  public interface Names {
    /// Returns the spaces whose keys have changes.
    Iterable<String> spaces();

    /// Returns a key.
    Key key(String space, byte[] name);

    /// Returns whether a stream has notes about readers, which a reader has no reason to note.
    default boolean isAboutReaders(StreamId stream) {
      return false;
    }

    /// Returns the log counter up to which such notes are so old that a reader notes them, too; 0
    /// for none.
    default long oldNotesEnd() {
      return 0;
    }

    /// Returns whether the store is one of several with one order.
    default boolean isOrdered() {
      return false;
    }

    /// Returns whether a put may wait for a condition of its key.
    boolean awaits(Key key, Records.Put put);
  }
}
