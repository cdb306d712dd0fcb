package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Accessor;
import stoa.LimitExceeded;
import stoa.Placement;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Clock;
import stoa.base.Timing;
import stoa.front.PlacedObject;
import stoa.front.PlacedState;
import stoa.front.PlacedStore;
import stoa.migration.core.Copy;
import stoa.migration.core.CopyVersion;
import stoa.migration.core.Event;
import stoa.objects.EmbeddedEngine;
import stoa.storage.disk.SimulatedDisk;
import stoa.store.threads.Threads;

class RootStoreTest {
  private static final int NAMES_MAX = 16;

  // The delayed tasks, in the order of the requests.
  private final Queue<Runnable> later = new ArrayDeque<>();

  // The tasks that repeat.
  private final List<Runnable> repeated = new ArrayList<>();
  // The present time.
  private long nanos;

  /// Time that the test moves: immediate tasks run, and the rest waits in [#later].
  private final class Standing implements Timing {
    @Override
    public long nanoTime() {
      return nanos;
    }

    @Override
    public void start(Runnable task) {
      task.run();
    }

    @Override
    public Line line(String name) {
      return new Line() {
        @Override
        public void execute(Runnable task) {
          task.run();
        }

        @Override
        public void after(long nanos, Runnable task) {
          later.add(task);
        }

        @Override
        public void every(long pauseNanos, Runnable task) {
          repeated.add(task);
        }

        @Override
        public void close() {}

        @Override
        public boolean await(long nanos) {
          return true;
        }
      };
    }

    @Override
    public <T extends @Nullable Object> T await(CompletableFuture<T> answer, long nanos) {
      return answer.join();
    }

    @Override
    public void whenUnreachable(Object object, Runnable task) {}
  }

  private static Threads with(Timing timing) {
    Threads real = Threads.real();
    return (Threads)
        Proxy.newProxyInstance(
            Threads.class.getClassLoader(),
            new Class<?>[] {Threads.class},
            (_, method, arguments) ->
                method.getName().equals("timing") ? timing : method.invoke(real, arguments));
  }

  /// A number at clients.
  @Shared(name = "test.RootCount", placement = Placement.CLIENT)
  public static class Count {
    private long count;

    public long add(long more) {
      count += more;
      return count;
    }

    @Accessor
    public long count() {
      return count;
    }
  }

  /* A root that knows a few objects by name. */
  private static RootStore over(PlacedStore store, String domain, List<Event> told) {
    return new RootStore(store, domain, NAMES_MAX, _ -> {}, told::add, failure -> told.add(null));
  }

  private List<PlacedObject> counts(Stoa stoa, int from, int to) {
    var store = PlacedStore.of(stoa);
    return IntStream.range(from, to)
        .mapToObj(i -> store.object(stoa.get(Count.class, "count " + i)))
        .toList();
  }

  private static void save(PlacedStore store, List<PlacedObject> objects) {
    for (var object : objects) {
      var state = new PlacedState(1, 1, object.state(new Count()));
      store.persist(List.of(new PlacedStore.Change(object, PlacedObject.FIRST_LIFE, state)));
    }
  }

  @Test
  void anObjectThatOnlyEndedClientsNamedIsFoundInTheStore() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var store = (PlacedStore) PlacedStore.of(stoa);
      var states = over(store, "default", told);
      var objects = counts(stoa, 0, 2);
      save(store, objects.subList(0, 1));
      for (var object : objects) states.load(object.stream());
      var loaded = told.stream().map(Event.Loaded.class::cast).map(Event.Loaded::object).toList();
      assertEquals(List.of(objects.getFirst().stream()), loaded, "the store lacks the second one");
      states.know(objects.getLast());
      assertEquals(2, told.size());
      states.close();
    }
  }

  @Test
  void namesThatTheStoreHasAreGivenUpAndFoundThere() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var store = (PlacedStore) PlacedStore.of(stoa);
      var states = over(store, "default", told);
      var objects = counts(stoa, 0, 3 * NAMES_MAX);
      save(store, objects);
      for (var object : objects) {
        states.know(object);
        states.load(object.stream());
      }
      states.load(objects.getFirst().stream()); // its name was given up
      assertEquals(objects.size() + 1, told.size());
      var changed = copy(objects.getFirst(), 2);
      states.persist(1, List.of(copy(objects.get(1), 2), changed), null);
      states.hasten();
      assertEquals(new Event.Persisted(1), told.getLast());
      for (int i = 0; i < 2; i++) {
        var state = Objects.requireNonNull(store.load(objects.get(i)).state());
        assertEquals(2, state.number());
      }
      states.close();
    }
  }

  private static Copy copy(PlacedObject object, long number) {
    byte[] state = object.state(new Count());
    return new Copy(
        object.stream(),
        new CopyVersion(1, number),
        States.packed(new States.State(PlacedObject.FIRST_LIFE, state)));
  }

  @Test
  void aRootRefusesMoreNamesThatTheStoreDoesNotHave() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var states = over((PlacedStore) PlacedStore.of(stoa), "default", told);
      var objects = counts(stoa, 0, NAMES_MAX + 1);
      for (var object : objects.subList(0, NAMES_MAX)) {
        states.know(object);
        states.load(object.stream());
      }
      assertThrows(LimitExceeded.class, () -> states.know(objects.getLast()));
      states.persist(1, List.of(copy(objects.getFirst(), 1)), null);
      states.hasten();
      states.know(objects.getLast());
      states.close();
    }
  }

  @Test
  void namesThatTheStoreLacksAreGivenUpWhenTheirCallersHaveEnded() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var states = over((PlacedStore) PlacedStore.of(stoa), "default", told);
      var objects = counts(stoa, 0, NAMES_MAX + 1);
      Object one = "one caller";
      Object other = "another caller";
      for (var object : objects.subList(0, NAMES_MAX)) states.know(object, one);
      states.know(objects.getFirst(), other);
      assertEquals(0, states.unused().size(), "they were named");
      var unused = states.ended(one);
      assertEquals(unused, states.unused());
      assertEquals(NAMES_MAX - 1, unused.size());
      assertFalse(unused.contains(objects.getFirst().stream()), "it has another caller");

      states.know(objects.get(1)); // meanwhile
      states.forgotten(unused);
      assertTrue(states.isKnown(objects.get(1).stream()));
      assertFalse(states.isKnown(objects.get(2).stream()));
      states.know(objects.getLast(), other);
      states.close();
    }
  }

  /* Moves the time on, and runs everything that waits for it. */
  private void later(long seconds) {
    nanos += TimeUnit.SECONDS.toNanos(seconds);
    List<Runnable> due = new ArrayList<>(repeated);
    due.addAll(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  @Test
  void theRootForgetsAnObjectThatWasNeverStoredAndIsNotCalledAnyMore() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      var domain = Domain.of(stoa);
      var count = stoa.get(Count.class, "never stored");
      var object = PlacedStore.of(stoa).object(count);
      assertEquals(0, count.count());
      assertTrue(domain.isKnown(object));
      later(6);
      assertEquals(0, count.count());
      later(6);
      assertTrue(domain.isKnown(object), "it was called meanwhile");
      later(6);
      assertFalse(domain.isKnown(object));
      assertEquals(0, count.count());
      assertEquals(3, count.add(3));
      later(6);
      later(6);
      assertEquals(3, count.count());
    }
  }

  @Test
  void theRootTakesBackAnObjectThatIsAtAMemberAndIsNotCalledAnyMore() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      var domain = Domain.of(stoa);
      var count = stoa.get(Count.class, "at a member");
      var object = PlacedStore.of(stoa).object(count);
      var store = (PlacedStore) PlacedStore.of(stoa);
      var member = domain.join("member");
      assertEquals(3, member.on(count).add(3));
      later(6);
      assertEquals(List.of(count), member.place(List.of(count)).here());
      assertEquals(0, store.load(object).bytes().length, "no caller has made it durable");
      later(6);
      later(1);
      assertEquals(List.of(), member.place(List.of(count)).here());
      assertTrue(store.load(object).bytes().length > 0);
      assertEquals(5, member.on(count).add(2));
    }
  }

  @Test
  void theRootTakesBackAnObjectWhoseLastCallerHasEnded() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      var domain = Domain.of(stoa);
      var count = stoa.get(Count.class, "at a member");
      var object = PlacedStore.of(stoa).object(count);
      var store = (PlacedStore) PlacedStore.of(stoa);
      var member = domain.join("member");
      Domain.Watcher one = (_, _) -> {};
      Domain.Watcher other = (_, _) -> {};
      domain.know(object, one);
      domain.know(object, other);
      assertEquals(3, member.on(count).add(3));
      domain.unwatch(one);
      assertEquals(List.of(count), member.place(List.of(count)).here());
      domain.unwatch(other);
      later(1);
      assertEquals(List.of(), member.place(List.of(count)).here());
      assertTrue(store.load(object).bytes().length > 0);
    }
  }

  @Test
  void anObjectOfAnotherDomainIsNotFound() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var store = (PlacedStore) PlacedStore.of(stoa);
      var states = over(store, "votes", told);
      var objects = counts(stoa, 0, 1);
      save(store, objects);
      states.load(objects.getFirst().stream());
      assertEquals(List.of(), told);
      states.close();
    }
  }

  @Test
  void whoIsHastenedLeavesNoTimeBehindAtWhichTheNextAreWrittenEarly() {
    var config = StoaConfig.of("memory:");
    try (var stoa =
        EmbeddedEngine.open(config, new SimulatedDisk(1), Clock.system(), with(new Standing()))) {
      List<Event> told = new ArrayList<>();
      var store = (PlacedStore) PlacedStore.of(stoa);
      var states = over(store, "default", told);
      later.clear();
      for (int number = 1; number <= 10; number++) {
        states.persist(number, List.of(), null);
        states.hasten();
        assertEquals(number, told.size());
      }
      List<Runnable> before = List.copyOf(later);
      later.clear();
      states.persist(11, List.of(), null);
      before.forEach(Runnable::run);
      assertEquals(10, told.size(), "it waits for newer ones");
      later.remove().run();
      assertEquals(new Event.Persisted(11), told.getLast());
      assertEquals(11, told.size());
      states.close();
    }
  }
}
