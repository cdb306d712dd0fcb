package stoa.bench.stacksync;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.UUID;
import stoa.stacksync.Chunk;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Device;
import stoa.stacksync.ItemChange;
import stoa.stacksync.ItemVersion;
import stoa.stacksync.Metadata;
import stoa.stacksync.Status;
import stoa.stacksync.SyncService;

/// A fixed series of requests, with repeats, conflicts, folders and a small quota, whose answers
/// all contenders must agree on.
public final class Script {
  private static final int USERS = 3;
  private static final int ITEMS = 12;
  private static final long QUOTA_BYTES = 5_000;
  private static final long SEED = 11;
  private static final List<Status> LATER = List.of(Status.CHANGED, Status.RENAMED, Status.MOVED);

  private final SplittableRandom random = new SplittableRandom(SEED);
  private final List<String> answers = new ArrayList<>();
  private final Map<Long, Integer> versions = new HashMap<>();
  private final SyncService service;

  private Script(SyncService service) {
    this.service = service;
  }

  /// Makes the requests of users of its own, one after the other.
  ///
  /// @return the answers, without the times of commits
  public static List<String> answers(SyncService service, int requests) {
    var script = new Script(service);
    script.populate();
    for (int i = 0; i < requests; i++) script.commit();
    script.read();
    return script.answers;
  }

  private static UUID user(int number) {
    return new UUID(5, number);
  }

  private void populate() {
    for (int i = 0; i < USERS; i++) {
      var user = user(i);
      note(service.addUser(user, "s" + i, "s" + i + "@example.org", QUOTA_BYTES));
      note(service.addUser(user, "s" + i, "s" + i + "@example.org", QUOTA_BYTES));
      service.addDevice(user, new Device(user, "device", "Linux"));
      note(service.addWorkspace(user, user, "workspace"));
      note(service.addWorkspace(user, user, "workspace"));
    }
    refused(() -> service.doCommit(user(0), user(0), user(99), List.of()));
    refused(() -> service.doCommit(user(0), user(99), user(0), List.of()));
    refused(() -> service.addWorkspace(user(99), user(50), "x"));
  }

  private void refused(Runnable request) {
    try {
      request.run();
      note("not refused");
    } catch (RuntimeException e) {
      note(e.getClass().getSimpleName());
    }
  }

  private void commit() {
    int user = random.nextInt(USERS);
    var changes = new ArrayList<ItemChange>();
    long first = random.nextInt(ITEMS);
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) changes.add(change(user, (first + i) % ITEMS));
    for (var answer : service.doCommit(user(user), user(user), user(user), changes)) {
      if (answer instanceof CommitInfo.Committed committed) {
        versions.put(key(user, committed.item()), committed.version());
      }
      note(text(answer));
    }
  }

  private static long key(int user, long item) {
    return user * 1_000L + item;
  }

  /// A change of an item; the first three are folders.
  private ItemChange change(int user, long item) {
    int version = versions.getOrDefault(key(user, item), 0) + 1;
    int kind = random.nextInt(10);
    if (kind == 0) version = Math.max(1, version - 1);
    if (kind == 1) version++;
    long parent = random.nextInt(3) == 0 ? Metadata.ROOT : random.nextInt(4);
    var status =
        version == 1 ? Status.NEW : kind == 2 ? Status.DELETED : LATER.get(kind % LATER.size());
    long size = status == Status.DELETED ? 0 : random.nextInt(10) * 100L;
    var metadata =
        item < 3
            ? Metadata.folder(status, parent, "folder " + item, Instant.EPOCH)
            : new Metadata(
                status,
                parent,
                "file " + item,
                false,
                "text/plain",
                size,
                size,
                List.of(new Chunk("c" + size), new Chunk("d" + item)),
                Instant.EPOCH);
    return new ItemChange(item, version, metadata);
  }

  private void read() {
    for (int i = 0; i < USERS; i++) {
      note(service.account(user(i)));
      note(service.userByMail("s" + i + "@example.org"));
      note(service.listWorkspaces(user(i)));
      note(
          service.listChanges(user(i), user(i), Long.MIN_VALUE, 1_000).stream()
              .map(state -> state.item() + " " + plain(state.latest()))
              .toList());
    }
  }

  private static String text(CommitInfo answer) {
    return switch (answer) {
      case CommitInfo.Repeated(long item, int version, ItemVersion current) ->
          "repeated %d %d %s".formatted(item, version, plain(current));
      case CommitInfo.WrongVersion(long item, int version, ItemVersion current) ->
          "wrong %d %d %s".formatted(item, version, plain(current));
      case CommitInfo other -> other.toString();
    };
  }

  private static ItemVersion plain(ItemVersion version) {
    return new ItemVersion(version.version(), version.metadata(), version.device(), Instant.EPOCH);
  }

  private void note(Object answer) {
    answers.add(answer.toString());
  }
}
