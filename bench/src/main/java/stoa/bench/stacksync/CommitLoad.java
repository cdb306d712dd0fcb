package stoa.bench.stacksync;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import stoa.bench.load.Parallel;
import stoa.stacksync.Chunk;
import stoa.stacksync.Device;
import stoa.stacksync.ItemChange;
import stoa.stacksync.Metadata;
import stoa.stacksync.Status;
import stoa.stacksync.SyncService;
import stoa.stacksync.replay.Outage;

/// The load of the papers: users with a device and a workspace each, all three with one id, and
/// commits of new items.
///
/// Thread-safe.
final class CommitLoad {
  private static final long QUOTA_BYTES = 1L << 50;
  private static final int POPULATORS = 32;

  /// For a cluster that cannot finish a call in its time: the request is made again, as the
  /// service's instances do, and the time counts.
  static final Outage OUTAGE = new Outage(Duration.ofSeconds(30));

  private final int users;
  private final int items;
  private final int chunks;
  private final AtomicLong numbers = new AtomicLong();

  CommitLoad(StackSyncScale sizes) {
    users = sizes.users();
    items = sizes.items();
    chunks = sizes.chunks();
  }

  /// Adds the users of the load.
  void populate(StackSyncContender.Running running) throws Exception {
    populate(running, IntStream.range(0, users).mapToObj(CommitLoad::user).toList());
  }

  /// Adds users, each with a device and a workspace.
  static void populate(StackSyncContender.Running running, List<UUID> ids) throws Exception {
    var services = new ArrayList<SyncService>();
    for (int i = 0; i < POPULATORS; i++) services.add(running.service(i));
    Parallel.run(
        POPULATORS,
        POPULATORS,
        populator -> {
          for (int i = populator; i < ids.size(); i += POPULATORS) {
            add(services.get(populator), ids.get(i));
          }
        });
  }

  private static void add(SyncService service, UUID id) {
    var device = new Device(id, "device", "Linux");
    boolean _ =
        OUTAGE.bridge(() -> {
          boolean added = service.addUser(id, "user " + id, id + "@example.org", QUOTA_BYTES);
          service.addDevice(id, device);
          return service.addWorkspace(id, id, "workspace") || added;
        });
  }

  static UUID user(int number) {
    return UUID.nameUUIDFromBytes(("user " + number).getBytes(StandardCharsets.UTF_8));
  }

  /// Commits new items in the workspace of a random user.
  void commit(SyncService service, SplittableRandom random) {
    request(random).commit(service);
  }

  /// Returns a request to commit new items in the workspace of a random user.
  CommitRequest request(SplittableRandom random) {
    var user = user(random.nextInt(users));
    var changes = new ArrayList<ItemChange>();
    for (int i = 0; i < items; i++)
      changes.add(new ItemChange(numbers.getAndIncrement(), 1, file(random)));
    return new CommitRequest(user, changes);
  }

  private Metadata file(SplittableRandom random) {
    long checksum = random.nextLong();
    return new Metadata(
        Status.NEW,
        Metadata.ROOT,
        "file-%016x".formatted(checksum),
        false,
        "application/octet-stream",
        random.nextInt(1, 1 << 20),
        checksum,
        IntStream.range(0, chunks)
            .mapToObj(i -> new Chunk("%016x%016x%08x".formatted(random.nextLong(), checksum, i)))
            .toList(),
        Instant.ofEpochSecond(1_400_000_000));
  }
}
