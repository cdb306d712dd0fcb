package stoa.cluster;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.raft.Line;
import stoa.raft.Member;
import stoa.raft.Node;

/// Tells servers that they were dismissed while they did not answer, as soon as they answer again.
/// Such a server deletes its part of the store, and ends. The turns of the [Mover] use it.
final class Farewells {
  private static final Logger LOG = LoggerFactory.getLogger(Farewells.class);

  // Deleting a replica takes part of this time.
  private static final Duration ANSWER_TIME_MAX = Duration.ofSeconds(30);

  // How long a server that does not answer is not asked again.
  private static final long PAUSE_NANOS = Duration.ofSeconds(2).toNanos();

  private final Node node;
  private final ExecutorService asking;
  private final Map<String, Attempt> attempts = new HashMap<>();

  /// Creates it.
  ///
  /// @param asking runs what waits for answers
  Farewells(Node node, ExecutorService asking) {
    this.node = node;
    this.asking = asking;
  }

  /// An attempt to tell a server.
  private static final class Attempt {
    private final long beganNanos = System.nanoTime();
    private volatile boolean ended;
    private volatile boolean told;

    boolean isRecent() {
      return !ended || System.nanoTime() - beganNanos < PAUSE_NANOS;
    }
  }

  /// Tries to tell servers. Does not wait.
  ///
  /// @param untold the servers, as [Member] writes them
  /// @param orders makes the requests that tell a server of a name, in their order; a server takes
  ///   each request once
  /// @return the names of those that know by now
  List<String> turn(List<String> untold, Function<String, List<byte[]>> orders) {
    var told = new ArrayList<String>();
    for (String written : untold) {
      Member member = Member.of(written);
      Attempt last = attempts.get(member.id());
      if (last != null && last.told) told.add(member.id());
      if (last != null && (last.told || last.isRecent())) continue;
      var next = new Attempt();
      attempts.put(member.id(), next);
      List<byte[]> requests = orders.apply(member.id());
      var _ = asking.submit(() -> tell(member, requests, next));
    }
    told.forEach(attempts::remove);
    return told;
  }

  private void tell(Member member, List<byte[]> requests, Attempt attempt) {
    try (Line line = node.line(member)) {
      for (byte[] request : requests) {
        String refusal = Report.of(line.ask(request, ANSWER_TIME_MAX)).refusal();
        if (refusal.isEmpty()) continue;
        LOG.info("server {} is out, and does not end yet: {}", member.id(), refusal);
        return;
      }
      attempt.told = true;
    } catch (IOException | RuntimeException silent) {
      LOG.debug("server {} does not learn yet that it is out", member.id(), silent);
    } finally {
      attempt.ended = true;
    }
  }
}
