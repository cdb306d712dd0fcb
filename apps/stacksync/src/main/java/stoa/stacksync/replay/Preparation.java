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
import stoa.stacksync.Facade;
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
    finishInterrupted();
    populate(Population.of(trace).users());
    return StoredItem.newest(store);
  }

  /// Finishes interrupted calls: a call that an interrupted replay had in progress continues when
  /// its facade is used again.
  private void finishInterrupted() {
    try (var facades = store.list(Facade.class)) {
      for (var facade : facades) {
        var found = facade.design();
        if (found != design) {
          throw new IllegalArgumentException(
              "the store holds the service in the design "
                  + found
                  + ", not "
                  + design
                  + "; use that one, or another store");
        }
      }
    }
  }

  /// Adds the users, devices and workspaces of the trace that are not there yet.
  private void populate(List<Population.Participant> users) throws InterruptedException {
    each(users, Preparation::addUser);
    each(users, Preparation::addWorkspaces);
    each(users, Preparation::addMemberships);
  }

  private static void addUser(Facade facade, Population.Participant user) {
    var id = TraceIds.user(user.number());
    var known = facade.account(id).map(Account::devices).orElse(List.of());
    if (known.isEmpty()) {
      facade.addUser(
          id, "user " + user.number(), "user" + user.number() + "@example.org", QUOTA_BYTES);
    }
    var knownIds = known.stream().map(Device::id).collect(Collectors.toSet());
    for (int number : user.devices()) {
      var device = new Device(TraceIds.device(number), "device " + number, "Linux");
      if (!knownIds.contains(device.id())) facade.addDevice(id, device);
    }
  }

  private static void addWorkspaces(Facade facade, Population.Participant user) {
    if (user.owned().isEmpty()) return;
    var missing = missing(facade, user);
    for (var name : user.owned()) {
      if (missing.test(name)) {
        facade.addWorkspace(TraceIds.user(user.number()), TraceIds.workspace(name), name);
      }
    }
  }

  private static void addMemberships(Facade facade, Population.Participant user) {
    if (user.shared().isEmpty()) return;
    var missing = missing(facade, user);
    user.shared()
        .forEach((name, owner) -> {
          if (missing.test(name)) {
            facade.shareWorkspace(
                TraceIds.user(owner), TraceIds.workspace(name), TraceIds.user(user.number()));
          }
        });
  }

  private static Predicate<String> missing(Facade facade, Population.Participant user) {
    var known =
        facade.listWorkspaces(TraceIds.user(user.number())).stream()
            .map(WorkspaceInfo::id)
            .collect(Collectors.<UUID>toSet());
    return name -> !known.contains(TraceIds.workspace(name));
  }

  private interface Step {
    void of(Facade facade, Population.Participant user);
  }

  private void each(List<Population.Participant> users, Step step) throws InterruptedException {
    var waiting = new ConcurrentLinkedQueue<>(users);
    var works = new ArrayList<Crew.Work>();
    for (int i = 0; i < Math.min(POPULATORS, users.size()); i++) {
      var facade = store.get(Facade.class, "populator-" + i, design);
      works.add(() -> {
        for (var user = waiting.poll(); user != null; user = waiting.poll()) {
          step.of(facade, user);
        }
      });
    }
    Crew.run("populator", works);
  }
}
