package stoa.links;

import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;
import stoa.migration.core.Message;
import stoa.migration.core.Upward;
import stoa.transport.Status;

/// The entrance of the root for a leaf that may use objects of some types alone. A message of the
/// leaf passes as soon as its process has named all objects of the message and may use them. So the
/// leaf neither gets nor changes any other object. Thread-safe.
final class LeafGuard implements Pipe.Listener {
  // The most messages that wait for names.
  private static final int WAITING_MAX = 10_000;

  private final Pipe pipe;
  private final Pipe.Listener inside;
  private final Set<StreamId> permitted;
  private final Runnable ended;
  private final Deque<Frame> waiting = new ArrayDeque<>(); // guarded by this

  /// Creates a guard.
  ///
  /// @param inside receives what passes
  /// @param permitted the named objects that the leaf may use; others may change it
  /// @param ended runs at the end of the pipe
  LeafGuard(Pipe pipe, Pipe.Listener inside, Set<StreamId> permitted, Runnable ended) {
    this.pipe = pipe;
    this.inside = inside;
    this.permitted = permitted;
    this.ended = ended;
  }

  /// Returns whether it guards a pipe.
  boolean is(Pipe one) {
    return pipe == one;
  }

  @Override
  public synchronized void frame(Pipe from, Frame frame) {
    if (objects(frame) == null) {
      pipe.cut(Status.of(Status.Code.PERMISSION_DENIED, "a leaf does not say that"));
    } else if (waiting.size() >= WAITING_MAX) {
      pipe.cut(Status.of(Status.Code.RESOURCE_EXHAUSTED, "too many messages on unnamed objects"));
    } else {
      waiting.add(frame);
      pass();
    }
  }

  /// Passes on what may pass. Call it when the permitted objects are more.
  synchronized void pass() {
    while (!waiting.isEmpty()) {
      var objects = objects(waiting.element());
      if (objects == null || !permitted.containsAll(objects)) return;
      inside.frame(pipe, waiting.remove());
    }
  }

  /// Returns the objects of a message that a leaf says; null for others.
  private static @Nullable Set<StreamId> objects(Frame frame) {
    if (!(frame instanceof Frame.Delivery(Message message))) return null;
    return switch (message) {
      case Message.Attach _, Message.Depth _ -> Set.of();
      case Message.Retrieve(StreamId object) -> Set.of(object);
      case Message.Ask(_, StreamId object) -> Set.of(object);
      case Message.Migrate(StreamId object, Upward with) -> of(Set.of(object), with);
      case Message.Reply(_, StreamId object, Upward with) -> of(Set.of(object), with);
      case Message.CopyUp(_, _, var objects, Upward with) -> of(objects, with);
      case Message.Depart(Upward with) -> of(Set.of(), with);
      case Message.Return(Upward with, var has) -> of(has.keySet(), with);
      default -> null;
    };
  }

  private static Set<StreamId> of(Collection<StreamId> objects, Upward with) {
    var all = new HashSet<>(objects);
    for (var copy : with.copies()) all.add(copy.object());
    for (var each : with.dependencies()) {
      all.add(each.object());
      all.add(each.on());
    }
    return all;
  }

  @Override
  public void beat(Pipe from, Frame.Beat beat, boolean first) {
    inside.beat(from, beat, first);
  }

  @Override
  public void over(Pipe from, Status why) {
    ended.run();
    inside.over(from, why);
  }
}
