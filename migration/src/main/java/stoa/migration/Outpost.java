package stoa.migration;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.DeadlineExceeded;
import stoa.Locality;
import stoa.Placement;
import stoa.Unavailable;
import stoa.base.Clock;
import stoa.base.Repeats;
import stoa.base.StreamId;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedObjects;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.spi.CallContext;

/// A member of a tree whose root is in another process. Thread-safe.
@SuppressWarnings("exports") // Justification: of PlacedObjects, which programs do not call
public final class Outpost implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Outpost.class);

  private final Repeats repeats = new Repeats();

  private final String domain;
  private final PlacedObjects objects;
  private final Uplink uplink;
  private final Clock clock;
  private final AtomicLong numbers = new AtomicLong();
  private final Member member;
  private final AutoClient auto;
  private final Disconnections disconnections;
  // The root's answers about borrowed objects.
  private final Map<StreamId, CompletableFuture<StreamId>> asked = new ConcurrentHashMap<>();
  private final Timing timing;
  private final Timing.Line ticks;
  private final Timing.Line deadlines;

  private Outpost(
      String name,
      String domain,
      PlacedObjects objects,
      Uplink uplink,
      Clock clock,
      Timing timing,
      Disconnections disconnections) {
    this.timing = timing;
    this.disconnections = disconnections;
    ticks = timing.line(Domain.THREAD);
    deadlines = timing.line(Domain.THREAD);
    this.domain = domain;
    this.objects = objects;
    this.uplink = uplink;
    this.clock = clock;
    auto = new AutoClient(objects, uplink);
    var there = new There();
    member = new Member(there, null, name, there.newNode(name, null));
    uplink.listen(
        new Uplink.Sides() {
          @Override
          public void side(StreamId object, boolean atServer) {
            member.side(object, atServer);
            var answer = atServer ? null : asked.get(object);
            if (answer != null) answer.complete(object);
          }

          @Override
          public void refused(StreamId object, RuntimeException why) {
            var answer = asked.get(object);
            if (answer != null) answer.completeExceptionally(why);
          }

          @Override
          public void forget() {
            member.forgetSides();
          }
        });
  }

  /// Joins a tree.
  ///
  /// @param name the name of the member
  /// @param domain the domain of the tree
  /// @param objects the objects, as this process knows them
  /// @param uplink closed with this
  /// @param timing the time of this process
  /// @param disconnections the receiver of its disconnections
  /// @throws stoa.Unavailable when there is no root in time
  /// @throws stoa.DeadlineExceeded when there is no place in time
  public static Outpost join(
      String name,
      String domain,
      PlacedObjects objects,
      Uplink uplink,
      Clock clock,
      Timing timing,
      Disconnections disconnections) {
    try {
      uplink.await();
      var outpost = new Outpost(name, domain, objects, uplink, clock, timing, disconnections);
      outpost.begin();
      return outpost;
    } catch (RuntimeException | Error failed) {
      uplink.close();
      throw failed;
    }
  }

  private void begin() {
    long tickNanos = TimeUnit.MILLISECONDS.toNanos(Domain.TICK_MILLIS);
    ticks.every(tickNanos, this::tick);
    deadlines.every(tickNanos, this::endLate);
    try {
      member.begin();
    } catch (RuntimeException | Error failed) {
      ticks.close();
      deadlines.close();
      throw failed;
    }
  }

  private void tick() {
    try {
      member.tick();
      uplink.tell(member.position());
      auto.tick();
    } catch (RuntimeException | Error failed) {
      // The next tick does the rest.
      repeats.tell("a tick of " + member + " failed: " + failed, line -> LOG.warn(line, failed));
    }
  }

  private void endLate() {
    try {
      member.endLate();
    } catch (RuntimeException | Error failed) {
      repeats.tell(
          "calls of " + member + " may take longer than they may: " + failed,
          line -> LOG.warn(line, failed));
    }
  }

  /// Returns the member for calls.
  public Member member() {
    return member;
  }

  /* The process, for its member. */
  private final class There implements Site {
    @Override
    public Timing timing() {
      return timing;
    }

    @Override
    public Links links() {
      return uplink;
    }

    @Override
    public Locality locality() {
      return uplink.locality();
    }

    @Override
    public @Nullable NodeId root() {
      return uplink.root();
    }

    @Override
    public String domain() {
      return domain;
    }

    @Override
    public boolean isSure(NodeId node) {
      return uplink.isSure(node);
    }

    @Override
    public TreeNode newNode(String name, @Nullable TreeNode before) {
      var id = new NodeId(uplink.address(), numbers.incrementAndGet());
      var settings = uplink.settings().withCopyBytesMax(objects.limits().residentBytesMax());
      return before == null
          ? TreeNode.client(id, settings, States.LIVES)
          : TreeNode.client(id, settings, before);
    }

    @Override
    public PlacedObjects objects() {
      return objects;
    }

    @Override
    public CallContext context(CopyVersion version) {
      return new ClientCall(
          objects.stoa(), clock, numbers.incrementAndGet() ^ clock.nowMicros(), version);
    }

    @Override
    public void know(PlacedObject object) {
      uplink.know(object);
    }

    @Override
    public @Nullable Auto auto(PlacedObject object) {
      return objects.placement(object) == Placement.CLIENT ? null : auto;
    }

    @Override
    public void moveToClients(StreamId object) {
      uplink.moveToClients(object);
    }

    @Override
    public void borrow(PlacedObject object, Member by) {
      var answer = asked.computeIfAbsent(object.stream(), _ -> new CompletableFuture<>());
      uplink.borrow(object);
      Duration limit = objects.limits().callTimeMax();
      try {
        var _ = timing.await(answer, limit.toNanos());
      } catch (ExecutionException refused) {
        asked.remove(object.stream(), answer);
        throw (RuntimeException) refused.getCause();
      } catch (TimeoutException late) {
        throw new DeadlineExceeded(
            object + " was not lent within " + limit + ": the tree has no root now", late);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new Unavailable("interrupted while " + object + " was to be lent", e);
      }
    }

    @Override
    public void letGo(PlacedObject object, Member by) {
      asked.remove(object.stream());
      uplink.letGo(object.stream());
    }

    @Override
    public Disconnections disconnections() {
      return disconnections;
    }

    @Override
    public void forget(Member gone) {
      ticks.close();
      deadlines.close();
    }
  }

  /// Leaves the tree with everything durable, see [Member#close].
  @Override
  public void close() {
    try {
      member.close();
    } finally {
      ticks.close();
      deadlines.close();
      uplink.close();
    }
  }
}
