package stoa.spi;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Listening;
import stoa.LogAddress;
import stoa.Stoa;

/// The objects that keep the listeners of objects. Of each listener, every group has one object,
/// which keeps how far the changes of the group are told, and calls the listener. Of each tag,
/// every group has one object, too.
public interface ListenerObjects {
  /// The choice of what a listener hears: the objects of a type, one of them, or those with a tag.
  ///
  /// @param type the stored name of the type; null for a tag
  /// @param key the encoded key of the one object; null for all
  /// @param tag null for a type or an object
  /// @param passUntil the log counter up to which released changes are passed over; 0 for none
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Selection(
      @Nullable String type, byte @Nullable [] key, @Nullable String tag, long passUntil) {}

  /// The object that a listener calls.
  ///
  /// @param type the stored name of its type
  /// @param face the name of its class
  /// @param key its encoded key
  /// @param generation the generation that is called, 0 for any
  /// @param method the identity of the method
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Target(String type, String face, byte[] key, long generation, String method) {}

  /// The place up to which the changes of a group are told.
  ///
  /// @param begun how often a listener of this name has begun
  /// @param address the log address of the last change
  /// @param index its index among the changes there; [Integer#MAX_VALUE] for all of them
  record Position(long begun, LogAddress address, int index) {}

  /// An event to tell.
  ///
  /// @param at the place behind it
  /// @param arguments the encoded arguments of the call
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record PendingEvent(Position at, byte[] arguments) {}

  /// The progress of a listener in a group.
  ///
  /// @param attempts how often the next event has failed
  /// @param dueMicros when to tell it next, in microseconds since 1970
  record State(Selection heard, Position at, int attempts, long dueMicros) {}

  /// Returns the group of an object.
  interface Groups {
    /// Returns the group of a key of a type.
    int of(String type, byte[] key);
  }

  /// Begins a listener in all groups, in a transaction.
  ///
  /// @param groups the number of groups
  void listen(
      Stoa stoa,
      int groups,
      Groups of,
      String name,
      Selection heard,
      Target target,
      LogAddress after);

  /// Ends a listener in all groups; returns whether there was one.
  boolean stop(Stoa stoa, int groups, Groups of, String name);

  /// Returns all listeners, by name.
  List<Listening> all(Stoa stoa, int groups, Groups of, ClassLoader keys);

  /// Gives an object a tag.
  void tag(TimerObjects.Opening objects, Groups of, String tag, String type, byte[] key);

  /// Takes a tag from an object; returns whether it had it.
  boolean untag(TimerObjects.Opening objects, Groups of, String tag, String type, byte[] key);

  // ---- for the engine

  /// Returns how far a listener is in a group; null when it has ended.
  ///
  /// @param key the encoded key of the group's object
  @Nullable State state(Stoa stoa, byte[] key);

  /// Calls the listener with events, one after the other, until one fails.
  ///
  /// @param from where the listener is; otherwise this does nothing
  /// @param to where it is then
  void tell(Stoa stoa, byte[] key, Position from, List<PendingEvent> events, Position to);

  /// Notes that the next event cannot be told.
  ///
  /// @param over whether the listener ends
  void fail(Stoa stoa, byte[] key, Position at, String failure, boolean over);

  /// Returns the objects of a group that have a tag at a log address, a [#text] each.
  List<String> tagged(Stoa stoa, Groups of, int group, String tag, LogAddress at);

  /// Returns the encoded key of the object that keeps a tag in a group. The calls `add` and
  /// `remove` change it, with a [#text] each.
  byte[] keeper(Groups of, int group, String tag);

  /// Returns the text of an object among those with a tag.
  String text(String type, byte[] key);
}
