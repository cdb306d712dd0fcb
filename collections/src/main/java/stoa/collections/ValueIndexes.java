package stoa.collections;

import java.util.ArrayList;
import java.util.List;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.front.types.IndexedMember;
import stoa.front.types.Keys;

/// The indexes that the class of a map's values declares. Immutable.
///
/// @param members the parts of a value that have an index, in the order of their ids
/// @param ids the ids as one text, see [Indexed]
record ValueIndexes(List<IndexedMember> members, String ids) {
  // The objects of an index are in its state, each in full.
  private static final int KEY_BYTES_MAX = 1_000;

  private static final ClassValue<ValueIndexes> KNOWN =
      new ClassValue<>() {
        @Override
        protected ValueIndexes computeValue(Class<?> values) {
          List<IndexedMember> members = IndexedMember.ofValues(values);
          List<String> ids = members.stream().map(IndexedMember::id).toList();
          return new ValueIndexes(members, Indexed.joined(ids));
        }
      };

  /// Returns those of a class.
  ///
  /// @throws NotShareable when it declares one that cannot be
  static ValueIndexes of(Class<?> values) {
    return KNOWN.get(values);
  }

  /// Refuses values that declare indexes, for a map that keeps none.
  ///
  /// @param map the kind of the map
  /// @throws NotShareable when the class declares one, naming both and the remedy
  static void refuse(Class<?> values, String map) {
    List<IndexedMember> members = of(values).members;
    if (members.isEmpty()) return;
    IndexedMember first = members.getFirst();
    throw new NotShareable(
        "%s has %s on %s, which %s does not keep; put such values into a SharedMap or ShardedMap, or"
                .formatted(
                    values.getName(), first.isUnique() ? "@Unique" : "@Index", first.name(), map)
            + " use a class without the annotation here");
  }

  boolean isEmpty() {
    return members.isEmpty();
  }

  /// Returns the ids of the indexes.
  List<String> list() {
    return Indexed.idsIn(ids);
  }

  /// Returns what a map holds of a value.
  ///
  /// @throws stoa.CallFailed when a part of it cannot be read
  Object held(Object value) {
    if (members.isEmpty()) return value;
    var forms = new ArrayList<String>(members.size());
    for (IndexedMember member : members) forms.add(member.valueOf(value));
    return new Indexed(value, ids, List.copyOf(forms));
  }

  /// Checks a key before a write.
  ///
  /// @throws NotShareable when the entries of indexes cannot have it
  void check(Object key) {
    if (members.isEmpty()) return;
    boolean isPlain = Keys.hasPlain(key.getClass());
    if (!isPlain) {
      throw new NotShareable(
          "a "
              + key.getClass().getName()
              + " is no key of a map whose values have an @Index; use a String, Long, Integer or"
              + " UUID");
    }
    int length = Keys.encode(key).length;
    if (length <= KEY_BYTES_MAX) return;
    throw new LimitExceeded(
        "a key of %,d bytes is longer than the %,d bytes of one in a map whose values have an @Index"
            .formatted(length, KEY_BYTES_MAX));
  }
}
