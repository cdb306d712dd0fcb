package stoa.links;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.Locality;
import stoa.front.Placing;
import stoa.migration.Domain;
import stoa.migration.core.Mandate;
import stoa.transport.Receiver;
import stoa.transport.Status;
import stoa.transport.Stream;
import stoa.transport.StreamAcceptor;

/// The tree's part of a server: takes the streams of clients, and has the roots while the server
/// has the store. Thread-safe; its owner calls [#tick()] a few times in a second, and closes it.
public final class TreeServer implements StreamAcceptor, AutoCloseable {
  /// The default for the longest silence of a member.
  public static final Duration LEASE = Duration.ofSeconds(5);

  /// The default number of children of a node.
  public static final int FAN_OUT = Domain.FAN_OUT;

  // The most streams without a first frame.
  private static final int STRANGERS_MAX = 1_000;

  private final Supplier<Placing.@Nullable Served> store;
  private final Executor background;
  private final Duration lease;
  private final int fanOut;
  private final Map<Domain, TreeRoot> roots = new ConcurrentHashMap<>();
  private final Map<Pipe, Entering> strangers = new ConcurrentHashMap<>();

  /// Creates it.
  ///
  /// @param store returns this server's part of the group that keeps client-placed objects; null
  ///   while another server has it
  /// @param background runs tasks that may wait for the disk
  /// @param lease the silence after which a connection ends
  /// @param fanOut how many children a node takes
  public TreeServer(
      Supplier<Placing.@Nullable Served> store, Executor background, Duration lease, int fanOut) {
    this.store = store;
    this.background = background;
    this.lease = lease;
    this.fanOut = fanOut;
    if (lease.toNanos() < Mandate.LENGTH_NANOS) {
      throw new IllegalArgumentException(
          "a lease of "
              + lease
              + " ends before a root can be sure of its members; give it "
              + Duration.ofNanos(Mandate.LENGTH_NANOS)
              + " or more");
    }
  }

  @Override
  public Receiver begin(Stream stream) {
    var entering = new Entering(PeerLocality.of(stream.peer()));
    var pipe = Pipe.of(stream, entering);
    if (strangers.size() < STRANGERS_MAX) {
      strangers.put(pipe, entering);
    } else {
      pipe.cut(Status.of(Status.Code.RESOURCE_EXHAUSTED, "too many say nothing; try again"));
    }
    return pipe;
  }

  /*
   * The receiver of a stream's frames: the root, when the first frame has given the purpose. Frames
   * before there is a root wait for it.
   */
  private final class Entering implements Pipe.Listener {
    private final Locality seen;
    private Pipe.@Nullable Listener inside; // guarded by this
    private boolean over; // guarded by this

    private Entering(Locality seen) {
      this.seen = seen;
    }

    @Override
    public void frame(Pipe pipe, Frame frame) {
      Pipe.Listener known;
      synchronized (this) {
        known = inside;
      }
      if (known != null) {
        known.frame(pipe, frame);
        return;
      }
      strangers.remove(pipe);
      TreeRoot root = root(pipe, frame);
      if (root == null) {
        pipe.cut(Status.of(Status.Code.UNAVAILABLE, "another server has the store"));
        return;
      }
      known = root.enter(pipe, frame, seen);
      if (known == null) return;
      synchronized (this) {
        inside = known;
        if (!over) return;
      }
      known.over(pipe, Status.of(Status.Code.CANCELLED, "it is over"));
    }

    @Override
    public void beat(Pipe pipe, Frame.Beat beat, boolean first) {
      Pipe.Listener known;
      synchronized (this) {
        known = inside;
      }
      if (known != null) known.beat(pipe, beat, first);
    }

    @Override
    public void over(Pipe pipe, Status why) {
      strangers.remove(pipe);
      Pipe.Listener known;
      synchronized (this) {
        over = true;
        known = inside;
      }
      if (known != null) known.over(pipe, why);
    }
  }

  /// The root of a first frame.
  private @Nullable TreeRoot root(Pipe pipe, Frame first) {
    if (first instanceof Frame.Greeting(_, var to, _)) {
      return roots.values().stream().filter(root -> root.is(to)).findAny().orElse(null);
    }
    if (first instanceof Frame.Register(_, _, String domain, _)) return root(pipe, domain);
    pipe.cut(Status.of(Status.Code.INVALID_ARGUMENT, "no first frame: " + first));
    return null;
  }

  private @Nullable TreeRoot root(Pipe pipe, String name) {
    try {
      Placing.Served service = store.get();
      if (service == null || service.hasFailed()) return null;
      var domain = (Domain) service.placing(name);
      if (domain.isOver()) return null;
      return roots.computeIfAbsent(
          domain,
          _ -> {
            domain.fanOut(fanOut);
            return new TreeRoot(domain, service, background, lease);
          });
    } catch (LimitExceeded tooMany) {
      pipe.cut(Status.of(Status.Code.RESOURCE_EXHAUSTED, tooMany.getMessage()));
      return null;
    } catch (RuntimeException closed) {
      return null;
    }
  }

  /// Performs the periodic tasks. Quick.
  public void tick() {
    roots
        .entrySet()
        .removeIf(entry -> {
          if (!entry.getKey().isOver()) entry.getValue().tick();
          else entry.getValue().close();
          return entry.getKey().isOver();
        });
    strangers
        .keySet()
        .forEach(pipe -> {
          if (pipe.silenceNanos() > TimeUnit.NANOSECONDS.convert(lease)) {
            pipe.cut(Status.of(Status.Code.DEADLINE_EXCEEDED, "no first frame came"));
          }
        });
  }

  /// Returns the processes of all trees, of each its root first; empty while there is none here.
  public List<TreeMember> members() {
    return roots.values().stream()
        .map(TreeRoot::members)
        .sorted(Comparator.comparing(members -> members.getFirst().domain()))
        .flatMap(List::stream)
        .toList();
  }

  @Override
  public void close() {
    roots.values().forEach(TreeRoot::close);
    roots.clear();
    strangers.keySet().forEach(pipe -> pipe.cut(Status.of(Status.Code.UNAVAILABLE, "closed")));
  }
}
