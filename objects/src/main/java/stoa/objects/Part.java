package stoa.objects;

import java.util.function.IntFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import stoa.base.Key;
import stoa.base.StreamId;

/// What an engine has of a store that several groups keep, each with an engine of its own.
/// Immutable.
///
/// An engine executes calls on what it has, and refuses others: an object that is begun in a second
/// group would have two histories.
///
/// @param group the engine's group
/// @param groups says which group has the object, or key, of a stream
/// @param addresses who gives log addresses to all groups; null when there is one
/// @param lines the ways to the other groups, by their numbers; null when methods call no objects
///   of theirs
public record Part(
    int group,
    ToIntFunction<StreamId> groups,
    stoa.store.ordering.@Nullable Addresses addresses,
    @Nullable IntFunction<Ordering.Line> lines) {
  /// The type of the list of servers.
  public static final String SERVERS = "stoa.Servers";

  /// All of a store that one group keeps.
  public static final Part WHOLE = new Part(0, _ -> 0);

  /// One without an order.
  public Part(int group, ToIntFunction<StreamId> groups) {
    this(group, groups, null, null);
  }

  /// The same, in a store whose groups have one order.
  ///
  /// @param giver who gives log addresses to all groups
  /// @param ways to the other groups, by their numbers
  public Part ordered(stoa.store.ordering.Addresses giver, IntFunction<Ordering.Line> ways) {
    return new Part(group, groups, giver, ways);
  }

  /// The group that has an object.
  int groupOf(Key key) {
    return isOfAll(key) ? 0 : groups.applyAsInt(key.stream());
  }

  /// Whether a key is that of the list of servers, which is of the store as a whole.
  private static boolean isOfAll(Key key) {
    return key.space().equals(SERVERS);
  }

  /// Whether another group has an object, which methods here call there. Replicas that follow have
  /// no lines, and find the answers in the log.
  boolean isAbroad(Key key) {
    return groupOf(key) != group;
  }

  /// Refuses what a client asked of the wrong group.
  ///
  /// @throws IllegalArgumentException when another group has it
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

  /// Refuses what only the first group does.
  ///
  /// @param what is asked for, in the plural
  void requireFirst(String what) {
    if (group == 0) return;
    throw new IllegalArgumentException(
        what
            + " are kept by group 0, and were asked of group "
            + group
            + "; use the same version of client and server");
  }
}
