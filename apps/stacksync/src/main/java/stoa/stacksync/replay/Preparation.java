package stoa.stacksync.replay;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import stoa.Stoa;
import stoa.stacksync.Account;
import stoa.stacksync.Design;
import stoa.stacksync.Device;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;
import stoa.stacksync.WorkspaceInfo;

/// The preparation of a store for the first commit of a trace: it finishes the calls that an
/// earlier replay had in progress, and creates the users, devices and workspaces.
///
/// Owned by one thread, which calls [#run()] once.
public final class Preparation {
  /// How much each user's workspaces may hold.
  public static final long QUOTA_BYTES = 1L << 30;

  // How many threads add users, devices and workspaces: many, so that their calls become durable
  // together.
  private static final int POPULATORS = 32;

  private final Stoa store;
  private final Trace trace;
  private final Design design;

  /// @param design of the service, when the store has none yet
  public Preparation(Stoa store, Trace trace, Design design) {
    this.store = store;
    this.trace = trace;
    this.design = design;
  }

  /// Prepares the store.
  ///
  /// @return the newest version that the store has of each item
  /// @throws IllegalArgumentException when the store holds the service in another design
  public Map<Long, Integer> run() throws InterruptedException {
    Services.finishInterrupted(store, design);
    populate(Population.of(trace).users());
    return StoredItem.newest(store);
  }

  /// Adds the users, devices and workspaces of the trace that are not there yet.
  private void populate(List<Population.Participant> users) throws InterruptedException {
    each(users, Preparation::addUser);
    each(users, Preparation::addWorkspaces);
    each(users, Preparation::addMemberships);
  }

  private static void addUser(SyncService service, Population.Participant user) {
    var id = TraceIds.user(user.number());
    var known = service.account(id).map(Account::devices).orElse(List.of());
    if (known.isEmpty()) {
      service.addUser(
          id, "user " + user.number(), "user" + user.number() + "@example.org", QUOTA_BYTES);
    }
    var knownIds = known.stream().map(Device::id).collect(Collectors.toSet());
    for (int number : user.devices()) {
      var device = new Device(TraceIds.device(number), "device " + number, "Linux");
      if (!knownIds.contains(device.id())) service.addDevice(id, device);
    }
  }

  private static void addWorkspaces(SyncService service, Population.Participant user) {
    if (user.owned().isEmpty()) return;
    var missing = missing(service, user);
    for (var name : user.owned()) {
      if (missing.test(name)) {
        service.addWorkspace(TraceIds.user(user.number()), TraceIds.workspace(name), name);
      }
    }
  }

  private static void addMemberships(SyncService service, Population.Participant user) {
    if (user.shared().isEmpty()) return;
    var missing = missing(service, user);
    user.shared()
        .forEach((name, owner) -> {
          if (missing.test(name)) {
            service.shareWorkspace(
                TraceIds.user(owner), TraceIds.workspace(name), TraceIds.user(user.number()));
          }
        });
  }

  private static Predicate<String> missing(SyncService service, Population.Participant user) {
    var known =
        service.listWorkspaces(TraceIds.user(user.number())).stream()
            .map(WorkspaceInfo::id)
            .collect(Collectors.<UUID>toSet());
    return name -> !known.contains(TraceIds.workspace(name));
  }

  private interface Step {
    void of(SyncService service, Population.Participant user);
  }

  private void each(List<Population.Participant> users, Step step) throws InterruptedException {
    var waiting = new ConcurrentLinkedQueue<>(users);
    var works = new ArrayList<Crew.Work>();
    for (int i = 0; i < Math.min(POPULATORS, users.size()); i++) {
      var service = Services.open(store, "populator-" + i, design);
      works.add(() -> {
        for (var user = waiting.poll(); user != null; user = waiting.poll()) {
          step.of(service, user);
        }
      });
    }
    Crew.run("populator", works);
  }
}
