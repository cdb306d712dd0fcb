package stoa.objects;

import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;

/// One group's part of a store that several groups keep. Immutable.
///
/// A group executes calls on its own objects, and refuses others: an object created in a second
/// group would have two histories.
///
/// @param group the number of the group
/// @param groups returns the group of an object or key, by its stream
/// @param addresses assigns log addresses to all groups; null when there is one group
/// @param lines the connections to the other groups, by their numbers; null when methods call no
///   objects of theirs
/// @param others finds code at the other servers; null when there are none
public record Part(
    int group,
    ToIntFunction<StreamId> groups,
    stoa.store.ordering.@Nullable Addresses addresses,
    @Nullable IntFunction<Ordering.Line> lines,
    CodeOfOthers.@Nullable Source others) {
  /// The type of the list of servers.
  public static final String SERVERS = "stoa.Servers";

  /// The whole of a store that one group keeps.
  public static final Part WHOLE = new Part(0, _ -> 0);

  /// Creates a part without a common order.
  public Part(int group, ToIntFunction<StreamId> groups) {
    this(group, groups, null, null, null);
  }

  /// Returns the same part of a store whose groups have one order.
  ///
  /// @param giver assigns log addresses to all groups
  /// @param ways the connections to the other groups, by their numbers
  public Part ordered(stoa.store.ordering.Addresses giver, IntFunction<Ordering.Line> ways) {
    return new Part(group, groups, giver, ways, others);
  }

  /// Returns the same part, for which the other servers are asked for code that this one lacks.
  public Part asking(CodeOfOthers.Source source) {
    return new Part(group, groups, addresses, lines, source);
  }

  /// Returns the group of an object.
  int groupOf(Key key) {
    return isOfAll(key) ? 0 : groups.applyAsInt(key.stream());
  }

  /// Returns whether a key is that of the list of servers, which belongs to the store as a whole.
  private static boolean isOfAll(Key key) {
    return key.space().equals(SERVERS);
  }

  /// Returns whether another group has an object, so that methods call it there. Following replicas
  /// have no connections; they find the answers in the log.
  boolean isInOtherGroup(Key key) {
    return groupOf(key) != group;
  }

  /// Returns whether this group has the streams whose ids begin with a byte. All groups have whole
  /// parts of that kind.
  boolean isPartHere(int first) {
    return groups.applyAsInt(new StreamId((long) first << 56, 0)) == group;
  }

  /// Refuses a client's request that belongs to another group.
  ///
  /// @throws IllegalArgumentException when another group has the key
  void require(Key key) {
    int other = groupOf(key);
    if (other == group) return;
    throw new IllegalArgumentException(
        key
            + " is kept by group "
            + other
            + ", and was asked of group "
            + group
            + "; use the same version of client and server");
  }

  /// Refuses a request that only the first group serves.
  ///
  /// @param what names the requested things, in the plural
  void requireFirst(String what) {
    if (group == 0) return;
    throw new IllegalArgumentException(
        what
            + " are kept by group 0, and were asked of group "
            + group
            + "; use the same version of client and server");
  }
}
