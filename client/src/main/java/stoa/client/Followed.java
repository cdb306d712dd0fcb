package stoa.client;

import org.jspecify.annotations.Nullable;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Fetch;
import stoa.wire.proto.Request;
import stoa.wire.proto.State;
import stoa.wire.proto.Unfollow;

/// The announced changes of one object, for its state at the client. Thread-safe; waits for
/// nothing.
final class Followed {
  /*
   * When the server announces a change of a state that is in use, the client asks for the new state
   * at once, and readers use the old one until it arrives. One such question is in progress at a
   * time. An unused state costs nothing: its next reader asks.
   *
   * Invariants:
   * (1) `firstUnseen` is not above the counter of any announced change that the state of the
   *     local copy does not show; it is NONE when there is no such change.
   * (2) A state that the client asks for after an announced change shows that change.
   */
  static final long NONE = Long.MAX_VALUE;

  /// A state that arrived ahead of its readers.
  ///
  /// @param state the state
  /// @param told the last announced change when the client asked for it
  record Arrived(State state, long told) {}

  private final Conversation conversation;
  private final Container container;

  // The life of the session in which the client follows the object.
  private final int life;

  private volatile long firstUnseen = NONE;
  private volatile boolean used;

  // The question for a newer state.
  private volatile Fetch next;

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
    this.next = Fetch.newBuilder().setContainer(container.number()).build();
  }

  /// Sets the question for a newer state.
  void next(Fetch question) {
    next = question;
  }

  Container container() {
    return container;
  }

  int life() {
    return life;
  }

  /// Notes a change of the object. The reading thread calls it.
  ///
  /// @param counter of the last change
  /// @param before a counter below that of the first unannounced change
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
    var request = Request.newBuilder().setFetch(next);
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
        return; // the next reader asks
      }
      next = told;
      if (next <= known || !used || !container.use()) return;
      asking = true;
      used = false;
    }
    ask(next);
  }

  /// Returns the last announced change.
  synchronized long told() {
    return told;
  }

  /// Takes the state that has arrived since the last call.
  synchronized @Nullable Arrived take() {
    Arrived taken = arrived;
    arrived = null;
    return taken;
  }

  /// Notes that the state shows all changes up to a counter.
  synchronized void shows(long counter) {
    firstUnseen = told <= counter ? NONE : counter + 1;
  }

  /// Returns the least counter of a change that the state may not show, NONE when it shows all.
  long firstUnseen() {
    return firstUnseen;
  }

  /// Returns whether a newer state is on its way.
  synchronized boolean isAsking() {
    return asking;
  }

  /// Notes a use of the state.
  void used() {
    if (!used) used = true;
  }

  /// Stops following.
  void close() {
    synchronized (this) {
      if (closed) return;
      closed = true;
      arrived = null;
    }
    boolean told = false;
    synchronized (container) {
      // Another local copy that follows it by now must not lose its changes.
      if (container.follower == this) {
        container.follower = null;
        told = conversation.life() == life;
        // In use until the request is done.
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
