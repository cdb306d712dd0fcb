package stoa.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/// A shared object that keeps entries in indexes of their own, as a map does whose values have an
/// [stoa.Index]. The engine makes the changes of the indexes after each call on the object. One
/// thread at a time uses it.
public interface Entered {
  /// A change of an entry in an index. Texts are as in [Indexes].
  ///
  /// @param index the id of the index
  /// @param value the form of the value
  /// @param enters whether the entry gets the value; otherwise it loses it
  /// @param entry the encoded key of the entry
  record Change(String index, String value, boolean enters, String entry) {
    /// Returns whether no other entry may have the value.
    public boolean isClaim() {
      return enters && isUnique() && !value.isEmpty();
    }

    /// Returns whether a value of the index belongs to one entry at most.
    public boolean isUnique() {
      return index.startsWith("unique ");
    }
  }

  /// The changes of a call.
  ///
  /// @param entries the changes of entries
  /// @param lost the ids of indexes that lack an entry now, since code without them has made it
  record Changes(List<Change> entries, List<String> lost) {
    /// No changes.
    public static final Changes NONE = new Changes(List.of(), List.of());

    /// Returns whether there are none.
    public boolean isEmpty() {
      return entries.isEmpty() && lost.isEmpty();
    }
  }

  /// A value with what its indexes need. Changes and histories show the value alone.
  interface IndexedValue {
    /// Returns the value.
    Object plain();

    /// Returns what a program sees of an argument.
    static @Nullable Object shown(@Nullable Object argument) {
      return argument instanceof IndexedValue value ? value.plain() : argument;
    }
  }

  /// Begins to note what a call changes.
  void beginChanges();

  /// Ends that, and returns what has changed since.
  Changes endChanges();

  /// Lets the changes stand.
  void keepChanges();

  /// Makes the object as it was at [#beginChanges].
  void undoChanges();

  /// Returns the name under which its indexes are kept, as that of a type.
  ///
  /// @param key the object's key
  String owner(@Nullable Object key);
}
