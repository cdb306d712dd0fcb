package stoa.sinks;

import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.Change;
import stoa.LogAddress;

/// The objects that a target has shown, without those that are present: they were deleted while the
/// sink was away. It keeps a name for each object in memory.
final class Departed {
  /// Which object, as its envelopes name it.
  ///
  /// @param type in JSON
  /// @param key in JSON
  /// @param id in JSON; null in an envelope of an earlier version
  private record Name(String type, String key, @Nullable String id) {}

  /// That an object is gone.
  ///
  /// @param key of the object, in JSON
  /// @param envelope the text of the envelope
  record Deletion(String key, String envelope) {}

  private final Set<Name> names = new LinkedHashSet<>();

  /// Reads what the target has shown, in its order.
  ///
  /// @param envelope the text of one
  void shown(String envelope) {
    String source = Objects.requireNonNull(Json.member(envelope, "source"), envelope);
    var name =
        new Name(
            Objects.requireNonNull(Json.member(source, "type"), envelope),
            Objects.requireNonNull(Json.member(source, "key"), envelope),
            Json.member(source, "id"));
    remove(name);
    if (!"\"d\"".equals(Json.member(envelope, "op"))) names.add(name);
  }

  private void remove(Name name) {
    names.remove(name);
    names.remove(new Name(name.type, name.key, null));
  }

  /// Takes out a present object.
  ///
  /// @return whether none is left
  boolean present(Change<?> change) {
    var object = change.at().object();
    String id = Json.text(Envelope.id(object).toString());
    remove(new Name(Json.text(object.type()), Json.text(object.key()), id));
    return names.isEmpty();
  }

  /// Returns the deletions of those that are left, which end the present objects.
  ///
  /// @param order has counted the present objects
  List<Deletion> deletions(LogAddress at, Order order, Envelope envelopes) {
    var all = new ArrayList<Deletion>();
    Instant time = Instant.now();
    long size = order.count() + names.size();
    for (Name name : names) {
      boolean isLast = order.count() + 1 == size;
      Order.Place place = order.next(name.type, isLast ? size : 0);
      var envelope =
          envelopes.gone(
              new Json.Raw(name.type),
              new Json.Raw(name.key),
              name.id == null ? null : new Json.Raw(name.id),
              at,
              time,
              place);
      all.add(new Deletion(name.key, Json.text(envelope)));
    }
    names.clear();
    return all;
  }
}
