package stoa;

import java.time.Duration;
import java.util.List;

/// The listeners of objects: shared objects that the store calls for each change of an object, of
/// all objects of a type, or of all objects with a tag.
///
/// A listener has a name and is in the store, so it also works while no program runs. It hears each
/// change at least once, some hundredths of a second after the change is durable. The changes of
/// the objects of one group come in the order of the log. A listener hears a transaction over
/// several groups in parts, one for each group. A call that the store takes back is no change. The
/// store keeps the log for a listener until the listener has heard it, at most for [#AGE_MAX]. See
/// docs/guide/object-listeners.md. Thread-safe.
public interface Listeners {
  /// How many listeners a store has at most.
  int LISTENERS_MAX = 100;

  /// How many objects of a group one tag has at most.
  int TAGGED_MAX = 10_000;

  /// The most characters in the name of a listener or a tag.
  int NAME_CHARS_MAX = 200;

  /// For how long the store keeps the log for a listener whose object fails.
  Duration AGE_MAX = Duration.ofDays(7);

  /// The longest time after which the store calls a listener again that has failed. It begins with
  /// a tenth of a second, and doubles.
  Duration PAUSE_MAX = Duration.ofMinutes(1);

  /// Begins a listener. Durable on return.
  ///
  /// @param name its name, not empty, of at most [#NAME_CHARS_MAX] characters
  /// @param heard what it hears: a type or an object, now, after a token, or from the beginning;
  ///   events have the calls and their arguments alone
  /// @param listener the proxy of a shared object
  /// @throws IllegalArgumentException when there is a listener of that name, when `heard` asks for
  ///   all types, the present, answers or states, and when the store cannot call the object
  /// @throws LimitExceeded when there are [#LISTENERS_MAX] listeners
  void listen(String name, Changes<?> heard, ObjectListener listener);

  /// Begins a listener of the objects with a tag. It hears the changes from now on. A change counts
  /// by the tags at its place in the log: with all those that its own transaction gives.
  ///
  /// @throws IllegalArgumentException as [#listen]
  /// @throws LimitExceeded when there are [#LISTENERS_MAX] listeners
  void listenToTag(String name, String tag, ObjectListener listener);

  /// Ends a listener; waits for its call in progress. Durable on return.
  ///
  /// @return whether it existed
  boolean stop(String name);

  /// Returns the listeners, by name.
  List<Listening> all();

  /// Gives an object a tag. Durable on return. Part of a transaction when it is made in one.
  ///
  /// @throws LimitExceeded when the group of the object has [#TAGGED_MAX] objects with that tag
  void tag(String tag, Object shared);

  /// Takes a tag from an object; returns whether the object had it.
  boolean untag(String tag, Object shared);
}
