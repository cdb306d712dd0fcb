package stoa.cluster;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.log.BatchLog;
import stoa.objects.Neighborhood;
import stoa.objects.Ordering;
import stoa.raft.Line;
import stoa.raft.Member;
import stoa.raft.Node;
import stoa.store.ordering.Addresses;
import stoa.store.ordering.Coordinator;

/// The common order of the groups, as one server sees it: the coordinator, while this server leads
/// group 0, and the connections to it and to the groups that others lead. Thread-safe.
final class Sequencing implements Ordering.Here, AutoCloseable {
  private static final Duration ANSWER_TIME_MAX = Duration.ofSeconds(40);

  // How long to wait for an answer to a question that repeats; servers take half a second.
  private static final Duration TURN_TIME_MAX = Duration.ofSeconds(3);

  // How long to wait for a server when another one is known to lead: the first one may hang.
  private static final Duration OTHERS_TIME_MAX = Duration.ofMillis(200);

  // How long a group waits for group 0 to have a leader before it refuses reads.
  private static final long PATIENCE_NANOS = 10_000_000_000L;

  // A store opens under a lock, and opens again soon.
  private static final long OPENING_PATIENCE_NANOS = 1_000_000_000L;

  private static final long PAUSE_NANOS = 10_000_000;

  private final Member self;
  private final Node node;
  private final ClassLoader loader;
  private final Clock clock;
  private final int groups;
  private final Supplier<List<Member>> servers;
  private final IntFunction<@Nullable Member> leader;
  private final IntFunction<Coordinator.Member> members;
  private final UnaryOperator<byte[]> here;
  private final Map<String, Line> lines = new ConcurrentHashMap<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile @Nullable Coordinator coordinator;

  /// Creates it.
  ///
  /// @param loader of the classes of keys
  /// @param clock of the coordinator
  /// @param groups their number
  /// @param servers all known servers
  /// @param leader returns which of them leads a group; null when that is unknown
  /// @param members the groups that this server leads
  /// @param here answers questions to this server
  Sequencing(
      Member self,
      Node node,
      ClassLoader loader,
      Clock clock,
      int groups,
      Supplier<List<Member>> servers,
      IntFunction<@Nullable Member> leader,
      IntFunction<Coordinator.Member> members,
      UnaryOperator<byte[]> here) {
    this.self = self;
    this.node = node;
    this.loader = loader;
    this.clock = clock;
    this.groups = groups;
    this.servers = servers;
    this.leader = leader;
    this.members = members;
    this.here = here;
  }

  // ---- here

  /// Returns a coordinator, which begins when group 0 is open here.
  Coordinator coordinate() {
    var others = new HashMap<Integer, Coordinator.Member>();
    for (int group = 1; group < groups; group++) {
      int number = group;
      others.put(group, Ordering.member(group, loader, question -> ask(number, question)));
    }
    return new Coordinator(0, others, threads, clock);
  }

  /// Records that the coordinator has begun, or has ended.
  void coordinates(@Nullable Coordinator next) {
    coordinator = next;
  }

  @Override
  public Addresses order(int group) {
    Coordinator here = coordinator;
    if (here == null) throw new Unavailable("server " + self.id() + " does not lead group 0");
    return here.of(group);
  }

  @Override
  public Coordinator.Member member(int group) {
    return members.apply(group);
  }

  /// Returns the order of a group that this server leads, wherever the coordinator is.
  Addresses from(int group) {
    Addresses elsewhere = Ordering.order(group, question -> ask(0, question));
    return new Addresses() {
      private <T> T ask(long patience, Function<Addresses, T> question) {
        long end = System.nanoTime() + patience;
        while (true) {
          try {
            Coordinator here = coordinator;
            return question.apply(here == null ? elsewhere : here.of(group));
          } catch (Unavailable later) {
            if (System.nanoTime() - end > 0) throw later;
            LockSupport.parkNanos(this, PAUSE_NANOS);
          }
        }
      }

      @Override
      public Adopted adopt(long term, BatchLog.Tail tail) {
        return ask(OPENING_PATIENCE_NANOS, order -> order.adopt(term, tail));
      }

      @Override
      public long reserve(long term, int count, long decided) {
        return ask(
            0, order -> order.reserve(term, count, decided)); // who asks may be held up meanwhile
      }

      @Override
      public long moment() {
        return ask(PATIENCE_NANOS, Addresses::moment);
      }

      @Override
      public long horizon() {
        return ask(0, Addresses::horizon);
      }
    };
  }

  // ---- elsewhere

  /// Returns the connection to the leader of a group.
  Ordering.Line line(int group) {
    return question -> ask(group, question);
  }

  /// Asks the leader of a group; asks another server when that one is known to lead meanwhile,
  /// because the first one may hang.
  private byte[] ask(int group, byte[] question) {
    var tried = new ArrayList<Member>();
    Member known = leader.apply(group);
    if (known != null) tried.add(known);
    for (Member server : servers.get()) {
      if (!tried.contains(server)) tried.add(server);
    }
    Unavailable last = new Unavailable("no known server leads group " + group);
    for (Member server : tried) {
      BooleanSupplier still =
          () -> {
            Member now = leader.apply(group);
            return now == null || now.equals(known) || now.equals(server);
          };
      try {
        Duration most = known == null || server.equals(known) ? ANSWER_TIME_MAX : OTHERS_TIME_MAX;
        byte[] answer =
            server.id().equals(self.id())
                ? here.apply(question)
                : ask(server, question, most, still);
        if (!Ordering.isElsewhere(answer)) return answer;
      } catch (IOException gone) {
        last = new Unavailable("server " + server.id() + " does not answer: " + gone, gone);
      }
    }
    throw last;
  }

  private byte[] ask(Member server, byte[] question, Duration most, BooleanSupplier still)
      throws IOException {
    boolean again = Neighborhood.isQuestion(question) || Ordering.onlyLooks(question);
    Duration patience = again && most.compareTo(TURN_TIME_MAX) > 0 ? TURN_TIME_MAX : most;
    Line line = lines.get(server.id());
    if (line != null && line.isOpen()) {
      try {
        return line.ask(question, patience, still);
      } catch (SocketTimeoutException slow) {
        if (!again) line.close();
        throw slow;
      } catch (IOException old) {
        // The other end may have closed the line since its last use, so this repeats the question.
        line.close();
      }
    }
    return opened(server).ask(question, patience, still);
  }

  private Line opened(Member server) {
    return lines.compute(
        server.id(), (_, known) -> known != null && known.isOpen() ? known : node.line(server));
  }

  @Override
  public void close() {
    coordinator = null;
    threads.shutdown();
    lines.values().forEach(Line::close);
  }
}
