package stoa.migration;

import java.util.Collection;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Action;
import stoa.base.Clock;
import stoa.base.StreamId;
import stoa.migration.core.NodeId;
import stoa.migration.core.TreeNode;
import stoa.migration.core.Version;
import stoa.objects.PlacedObject;
import stoa.objects.PlacedObjects;
import stoa.objects.Placing;
import stoa.objects.types.SharedMethod;
import stoa.spi.CallContext;

/// A member of a tree whose root is in another process. Thread-safe.
@SuppressWarnings("exports") // Justification: of Placing, which programs do not call
public final class Outpost implements Placing {
  private static final Logger LOG = LoggerFactory.getLogger(Outpost.class);

  private final String domain;
  private final PlacedObjects objects;
  private final Uplink uplink;
  private final Clock clock;
  private final AtomicLong numbers = new AtomicLong();
  private final Member member;
  private final AutoClient auto;
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(Domain::thread);

  private Outpost(String name, String domain, PlacedObjects objects, Uplink uplink, Clock clock) {
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
          }

          @Override
          public void forget() {
            member.forgetSides();
          }
        });
  }

  /// Joins a tree.
  ///
  /// @param name what the member is called
  /// @param domain the domain whose tree it is
  /// @param objects the objects, as this process knows them
  /// @param uplink closed with this
  /// @throws stoa.Unavailable when there is no root in time
  /// @throws stoa.DeadlineExceeded when there is no place in time
  public static Outpost join(
      String name, String domain, PlacedObjects objects, Uplink uplink, Clock clock) {
    try {
      uplink.await();
      var outpost = new Outpost(name, domain, objects, uplink, clock);
      outpost.begin();
      return outpost;
    } catch (RuntimeException | Error failed) {
      uplink.close();
      throw failed;
    }
  }

  private void begin() {
    var _ =
        ticks.scheduleWithFixedDelay(
            this::tick, Domain.TICK_MILLIS, Domain.TICK_MILLIS, TimeUnit.MILLISECONDS);
    try {
      member.begin();
    } catch (RuntimeException | Error failed) {
      ticks.shutdownNow();
      throw failed;
    }
  }

  private void tick() {
    try {
      member.tick();
      uplink.tell(member.standing());
      auto.tick();
    } catch (RuntimeException failed) {
      LOG.warn("a tick of {} failed", member, failed); // and the next one does what is to be done
    }
  }

  /// What calls go through.
  public Member member() {
    return member;
  }

  /* The process, for its member. */
  private final class There implements Site {
    @Override
    public Links links() {
      return uplink;
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
      return before == null ? TreeNode.client(id, settings) : TreeNode.client(id, settings, before);
    }

    @Override
    public PlacedObjects objects() {
      return objects;
    }

    @Override
    public CallContext context(Version version) {
      return new ClientCall(
          objects.stoa(), clock, numbers.incrementAndGet() ^ clock.nowMicros(), version);
    }

    @Override
    public void know(PlacedObject object) {
      uplink.know(object);
    }

    @Override
    public @Nullable Auto auto(PlacedObject object) {
      return objects.isAuto(object) ? auto : null;
    }

    @Override
    public void bringHome(StreamId object) {
      uplink.bringHome(object);
    }

    @Override
    public void forget(Member gone) {
      ticks.shutdown();
    }
  }

  @Override
  public @Nullable Object call(
      PlacedObject object, SharedMethod method, @Nullable Object[] arguments) throws Throwable {
    return member.call(object, method, arguments);
  }

  @Override
  public <X extends Exception> void together(Collection<PlacedObject> some, Action<X> body)
      throws X {
    member.together(some, body);
  }

  @Override
  public boolean isOver() {
    return member.isOver();
  }

  /// Leaves the tree with all made durable, see [Member#close].
  @Override
  public void close() {
    try {
      member.close();
    } finally {
      ticks.shutdownNow();
      uplink.close();
    }
  }
}
