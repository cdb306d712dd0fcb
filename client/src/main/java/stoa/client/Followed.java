package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.Request;
import stoa.wire.proto.State;
import stoa.wire.proto.Unfollow;

/// That the server tells of the changes of one object, for the state that is kept here.
/// Thread-safe; waits for nothing.
final class Followed {
  /*
   * When a change is told of a state that is read, the new one is asked for at once, and arrives
   * while readers go on with the old one. One such question is under way at a time. A state that is
   * not read costs nothing: its next reader asks.
   *
   * Invariants:
   * (1) `firstUnseen` is not above the counter of any change that was told and that the state of
   *     the replica does not show; it is NONE when there is no such change.
   * (2) What is asked for when a change was told shows that change.
   */
  static final long NONE = Long.MAX_VALUE;

  /// A state that was asked for ahead of its readers.
  ///
  /// @param state what came
  /// @param told the last change that had been told when it was asked for
  record Arrived(State state, long told) {}

  private final Conversation conversation;
  private final Container container;

  // The life of the session in which it is followed.
  private final int life;

  private volatile long firstUnseen = NONE;
  private volatile boolean used;

  // Guarded by this.
  private long told;
  private boolean asking;
  private boolean closed;
  private @Nullable Arrived arrived;

  /// @param container in use until [#close]
  Followed(Conversation conversation, Container container, int life) {
    this.conversation = conversation;
    this.container = container;
    this.life = life;
  }

  Container container() {
    return container;
  }

  int life() {
    return life;
  }

  /// The object has changed. Called by the thread that reads.
  ///
  /// @param counter of the last change
  /// @param before a counter below that of the first one which was not told
  void changed(long counter, long before) {
    synchronized (this) {
      if (counter <= told) return;
      told = counter;
      if (firstUnseen == NONE) firstUnseen = before + 1;
      if (!used || asking || closed || !container.use()) return;
      asking = true;
      used = false;
    }
    ask(counter);
  }

  private void ask(long known) {
    var fetch = Fetch.newBuilder().setContainer(container.number());
    var request = Request.newBuilder().setFetch(fetch);
    Outgoing outgoing = Outgoing.on(container, request, Outgoing.Recovery.READ, 16);
    outgoing.whenSettled(settled -> arrived(settled, known));
    conversation.tell(outgoing);
  }

  private void arrived(Outgoing settled, long known) {
    long next;
    synchronized (this) {
      asking = false;
      if (closed) return;
      try {
        Answer answer = settled.answer();
        if (answer.hasFailure()) return;
        arrived = new Arrived(answer.getState(), known);
      } catch (RuntimeException failed) {
        return; // who reads next asks, and is told
      }
      next = told;
      if (next <= known || !used || !container.use()) return;
      asking = true;
      used = false;
    }
    ask(next);
  }

  /// The last change that was told.
  synchronized long told() {
    return told;
  }

  /// Takes what has arrived since the last time.
  synchronized @Nullable Arrived take() {
    Arrived taken = arrived;
    arrived = null;
    return taken;
  }

  /// The state shows all changes up to a counter.
  synchronized void shows(long counter) {
    firstUnseen = told <= counter ? NONE : counter + 1;
  }

  /// The least counter of a change that the state may not show, NONE when it shows all.
  long firstUnseen() {
    return firstUnseen;
  }

  /// Returns whether a newer state is under way.
  synchronized boolean isAsking() {
    return asking;
  }

  /// The state is read.
  void used() {
    if (!used) used = true;
  }

  /// Follows no more.
  void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
      arrived = null;
    }
    boolean told = false;
    synchronized (container) {
      // Another replica that follows it by now is not to lose its changes.
      if (container.follower == this) {
        container.follower = null;
        told = conversation.life() == life;
        // In use until it is done.
        if (told) conversation.tell(unfollow());
      }
    }
    if (!told) container.release();
  }

  private Outgoing unfollow() {
    var unfollow = Unfollow.newBuilder().setContainer(container.number());
    var request = Request.newBuilder().setUnfollow(unfollow);
    return Outgoing.on(container, request, Outgoing.Recovery.READ, 16);
  }
}
