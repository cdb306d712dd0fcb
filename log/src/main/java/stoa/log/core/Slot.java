package stoa.log.core;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.TransactionId;

/// What a log unit holds at a log address.
public sealed interface Slot {
  /// The whole append.
  ///
  /// @param record the append, or the hole
  record Full(CommitRecord record) implements Slot {}

  /// Where the append's entries are.
  ///
  /// @param address the log address
  /// @param id whose append it is; null for a hole, or when a shard's leader appended it
  /// @param hole whether nothing was appended
  /// @param places where the entries are
  record Reference(LogAddress address, @Nullable TransactionId id, Hole hole, List<Place> places)
      implements Slot {}

  /// The streams have released every entry.
  ///
  /// @param address the log address
  /// @param hole whether nothing was appended
  record Trimmed(LogAddress address, Hole hole) implements Slot {}

  /// Whether something was appended at an address.
  enum Hole {
    /// Nothing was.
    YES,
    /// Something was.
    NO
  }

  /// A place in a stream.
  ///
  /// @param stream the stream
  /// @param address the position there
  record Place(StreamId stream, long address) {}

  /// The address that it stands at.
  default LogAddress at() {
    return switch (this) {
      case Full(CommitRecord record) -> record.address();
      case Reference reference -> reference.address();
      case Trimmed trimmed -> trimmed.address();
    };
  }

  /// Where its entries are.
  default List<Place> places() {
    return switch (this) {
      case Full(CommitRecord record) -> {
        List<Place> places = new ArrayList<>();
        for (var entry : record.entries()) places.add(new Place(entry.stream(), entry.address()));
        yield places;
      }
      case Reference reference -> reference.places;
      case Trimmed _ -> List.of();
    };
  }

  /// Whose append it is, or null.
  default @Nullable TransactionId owner() {
    return switch (this) {
      case Full(CommitRecord record) -> record.id();
      case Reference reference -> reference.id;
      case Trimmed _ -> null;
    };
  }

  /// Whether it is known that nothing was appended.
  default boolean isHole() {
    return switch (this) {
      case Full(CommitRecord record) -> record.isHole();
      case Reference reference -> reference.hole == Hole.YES;
      case Trimmed trimmed -> trimmed.hole == Hole.YES;
    };
  }
}
