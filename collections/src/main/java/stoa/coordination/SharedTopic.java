package stoa.coordination;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Awaits;
import stoa.Call;
import stoa.Shared;
import stoa.spi.Forkable;

/// Messages with numbers, which each subscriber gets in their order.
///
/// A subscriber has a name and a position: the number of the last message that it has acknowledged.
/// It gets each later message at least once, since it acknowledges a message when it has worked on
/// it. The topic keeps a message until all subscribers have acknowledged it. A message that is
/// published while there is no subscriber is not kept.
///
/// The topic keeps at most a number of messages: 1,000, or that with which it is created. Then
/// [#publish] waits for the slowest subscriber. [#unsubscribe] removes one that is gone.
///
/// Open it with [Coordination#topic(stoa.Stoa, String, Class)].
///
/// @param <M> the class of the messages: any value that may be an argument of a shared object
@Shared(name = "stoa.Topic")
public class SharedTopic<M> implements Forkable<SharedTopic<M>> {
  /// How many subscribers a topic has at most.
  public static final int SUBSCRIBERS_MAX = 1_000;

  /// How many messages a topic may keep at most.
  public static final int CAPACITY_MAX = 10_000;

  /// A message.
  ///
  /// @param number from 1, without gaps
  /// @param value what was published
  public record Message(long number, @Nullable Object value) {}

  private int capacity = 1_000;

  // The messages up to the last one, without those before them.
  private ArrayList<Message> kept = new ArrayList<>();
  private long last;
  private TreeMap<String, Long> positions = new TreeMap<>();

  /// For the store: a topic that keeps 1,000 messages.
  protected SharedTopic() {}

  /// Creates a topic.
  ///
  /// @param capacity how many messages it keeps at most
  /// @throws IllegalArgumentException when that is not positive, or more than [#CAPACITY_MAX]
  public SharedTopic(int capacity) {
    if (capacity <= 0 || capacity > CAPACITY_MAX) {
      throw new IllegalArgumentException(
          "a capacity of " + capacity + "; it may be 1 to " + CAPACITY_MAX);
    }
    this.capacity = capacity;
  }

  /// Publishes a message; waits while the topic is full.
  ///
  /// @return its number
  @Awaits
  public long publish(M message) {
    Call.await(() -> kept.size() < capacity);
    return append(message);
  }

  /// Publishes a message unless the topic is full.
  ///
  /// @return its number; 0 when the topic is full
  public long offer(M message) {
    return kept.size() < capacity ? append(message) : 0;
  }

  /// Adds a subscriber, which gets the messages from now on. One that is known keeps its position.
  ///
  /// @return its position
  /// @throws IllegalStateException when there are [#SUBSCRIBERS_MAX] others
  public long subscribe(String subscriber) {
    Long known = positions.get(subscriber);
    if (known != null) return known;
    if (positions.size() >= SUBSCRIBERS_MAX) {
      throw new IllegalStateException(
          SUBSCRIBERS_MAX + " subscribers; unsubscribe one that is gone before " + subscriber);
    }
    positions.put(subscriber, last);
    return last;
  }

  /// Removes a subscriber; returns whether it was there.
  public boolean unsubscribe(String subscriber) {
    boolean was = positions.remove(subscriber) != null;
    release();
    return was;
  }

  /// Waits until there is a message behind the position of a subscriber.
  ///
  /// @return the first one, with its value of class `M`; the position stays
  /// @throws IllegalArgumentException when the subscriber is not known
  @Awaits
  public Message next(String subscriber) {
    long position = position(subscriber);
    Call.await(() -> position < last);
    return after(position);
  }

  /// Returns the first message behind the position of a subscriber; null when there is none.
  ///
  /// @throws IllegalArgumentException when the subscriber is not known
  @Accessor
  public @Nullable Message peek(String subscriber) {
    long position = position(subscriber);
    return position < last ? after(position) : null;
  }

  /// Moves a subscriber's position to a message, which it does not get again.
  ///
  /// @return whether the position was lower; otherwise nothing has changed
  /// @throws IllegalArgumentException when the subscriber is not known, or there is no such message
  public boolean acknowledge(String subscriber, long number) {
    if (number > last) {
      throw new IllegalArgumentException("message " + number + "; the last one is " + last);
    }
    if (number <= position(subscriber)) return false;
    positions.put(subscriber, number);
    release();
    return true;
  }

  /// Returns the position of a subscriber.
  ///
  /// @throws IllegalArgumentException when the subscriber is not known
  @Accessor
  public long position(String subscriber) {
    Long position = positions.get(subscriber);
    if (position == null) {
      throw new IllegalArgumentException("no subscriber " + subscriber + "; call subscribe first");
    }
    return position;
  }

  /// Returns the names of the subscribers.
  @Accessor
  public List<String> subscribers() {
    return List.copyOf(positions.keySet());
  }

  /// Returns the number of the last message; 0 before the first.
  @Accessor
  public long last() {
    return last;
  }

  /// Returns how many messages the topic keeps.
  @Accessor
  public int size() {
    return kept.size();
  }

  private long append(M message) {
    last++;
    if (!positions.isEmpty()) kept.add(new Message(last, message));
    return last;
  }

  private Message after(long position) {
    return kept.get((int) (position - last + kept.size()));
  }

  /// Drops the messages that all subscribers have acknowledged.
  private void release() {
    long low = positions.values().stream().mapToLong(Long::longValue).min().orElse(last);
    long first = last - kept.size();
    if (low > first) kept.subList(0, (int) (low - first)).clear();
  }

  @Override
  public SharedTopic<M> fork() {
    var copy = new SharedTopic<M>();
    copy.capacity = capacity;
    copy.kept = new ArrayList<>(kept);
    copy.last = last;
    copy.positions = new TreeMap<>(positions);
    return copy;
  }
}
