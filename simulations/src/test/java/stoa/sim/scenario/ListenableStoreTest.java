package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.KeyEvent;
import stoa.sim.check.Linearizability;
import stoa.sim.check.ListenableModel;
import stoa.sim.check.ListenableModel.Input;
import stoa.sim.check.ListenableModel.Output;
import stoa.sim.check.ListenerRules;
import stoa.sim.check.ListenerRules.End;
import stoa.sim.check.ListenerRules.Put;
import stoa.sim.check.Verdict;
import stoa.sim.world.Recorder;
import stoa.sim.world.SimulatedHandlers;

/// The listenable key-value store on a disk that fails, and the checkers of its listeners.
class ListenableStoreTest {
  private static final int SEEDS = Integer.getInteger("stoa.sim.listenable.seeds", 60);

  @Test
  void listenersMissNothingAndSeeNoDisorderWhateverFails() {
    var scenario = Scenarios.named("listenable");
    Set<String> reached = new TreeSet<>();
    for (int seed = 0; seed < SEEDS; seed++) {
      reached.addAll(SimulatedRun.require(scenario, seed).places().keySet());
    }
    assertTrue(
        reached.containsAll(
            List.of(
                "a listener hears",
                "a listener is ended with CallFailed",
                "a listener is ended with LimitExceeded",
                "a listener leaves",
                "all is settled",
                "the disk fails during a recovery",
                "the store fails")),
        reached::toString);
  }

  private static List<Put> puts(String... values) {
    var order = new ArrayList<Put>();
    String before = null;
    for (String value : values) {
      order.add(new Put(value, before));
      before = value;
    }
    return order;
  }

  private static ListenerRules.Told told(End end, Set<String> before, String... events) {
    var numbered = new ArrayList<KeyEvent<String>>();
    for (String event : events) numbered.add(new KeyEvent<>("k", event, numbered.size() + 1));
    var after = new TreeSet<>(Set.of("a", "b", "b!", "c", "d"));
    after.removeIf(value -> before.stream().anyMatch(over -> over.compareTo(value) >= 0));
    return new ListenerRules.Told(
        "k", () -> new SimulatedHandlers.Fussy("!"), before, after, numbered, end);
  }

  private static final List<Put> ORDER = puts("a", "b", "c", "d");
  private static final String B = "b after a";
  private static final String C = "c after b";
  private static final String D = "d after c";

  @Test
  void acceptsWhatAListenerHasToBeTold() {
    ListenerRules.requireChain(ORDER);
    ListenerRules.require(ORDER, told(End.SETTLED, Set.of("a"), B, C, D));
    ListenerRules.require(ORDER, told(End.SETTLED, Set.of("d")));
    ListenerRules.require(ORDER, told(End.CUT, Set.of("a"), B));
    ListenerRules.require(ORDER, told(End.CUT, Set.of("a"), B, C, D, "e after d"));
    ListenerRules.require(puts("a", "b!", "c"), told(End.THREW, Set.of(), "a after null"));
    ListenerRules.require(puts("a", "b!"), told(End.THREW_AND_CUT, Set.of(), "a after null"));
    ListenerRules.require(puts("a"), told(End.THREW_AND_CUT, Set.of(), "a after null"));
  }

  @Test
  void findsWhatIsMissing() {
    for (End end : List.of(End.SETTLED, End.CUT)) {
      bad(ORDER, told(end, Set.of("a"), B, D));
    }
    bad(ORDER, told(End.SETTLED, Set.of("a"), B, C));
    bad(puts("a", "b!", "c"), told(End.THREW, Set.of()));
    bad(puts("a", "b!", "c"), told(End.THREW_AND_CUT, Set.of()));
    bad(puts("a"), told(End.THREW, Set.of(), "a after null"));
    bad(puts("a", "b!", "c"), told(End.SETTLED, Set.of(), "a after null"));
  }

  @Test
  void findsDisorder() {
    bad(ORDER, told(End.SETTLED, Set.of("a"), C, B, D));
    bad(ORDER, told(End.CUT, Set.of("a"), C, B));
    assertThrows(
        AssertionError.class,
        () -> ListenerRules.requireChain(List.of(ORDER.get(0), ORDER.get(2), ORDER.get(1))));
    assertThrows(
        AssertionError.class,
        () -> ListenerRules.requireChain(List.of(ORDER.get(0), new Put("a", "a"))));
  }

  @Test
  void findsEventsThatNobodyPut() {
    bad(ORDER, told(End.SETTLED, Set.of("a"), B, C, D, "e after d"));
    for (End end : List.of(End.THREW, End.THREW_AND_CUT)) {
      bad(puts("a", "b!", "c"), told(end, Set.of(), "a after null", "c after b!"));
    }
    bad(ORDER, told(End.THREW, Set.of("a"), B, C, D));
    // A put that was over before the registration began.
    bad(ORDER, told(End.SETTLED, Set.of("b"), B, C, D));
  }

  @Test
  void findsNumbersThatAreNotDenseAndRepetitionsThatDiffer() {
    assertDoesNotThrow(() -> numbered(1, B, 2, C, 1, B, 2, C, 3, D));
    assertThrows(AssertionError.class, () -> numbered(1, B, 2, C, 2, D));
    assertThrows(AssertionError.class, () -> numbered(1, B, 3, C));
    assertThrows(AssertionError.class, () -> numbered(2, B, 3, C, 4, D));
    assertThrows(AssertionError.class, () -> numbered(2, C, 1, B, 3, D));
  }

  private static void numbered(Object... pairs) {
    var events = new ArrayList<KeyEvent<String>>();
    for (int i = 0; i < pairs.length; i += 2) {
      events.add(new KeyEvent<>("k", (String) pairs[i + 1], (Integer) pairs[i]));
    }
    ListenerRules.require(
        ORDER,
        new ListenerRules.Told(
            "k",
            () -> new SimulatedHandlers.Fussy("!"),
            Set.of("a"),
            Set.of(),
            events,
            End.SETTLED));
  }

  private static void bad(List<Put> order, ListenerRules.Told told) {
    assertThrows(AssertionError.class, () -> ListenerRules.require(order, told), told::toString);
  }

  @Test
  void theOrderThatHandlersSeeMustBeThatOfPutsAndGets() {
    assertInstanceOf(Verdict.Linearizable.class, check("a", null, "b", "a", "b"));
    assertInstanceOf(Verdict.NotLinearizable.class, check("a", null, "b", "a", "a"));
    assertInstanceOf(Verdict.NotLinearizable.class, check("a", "b", "b", null, "b"));
  }

  private static Verdict<?, ?, ?> check(
      String one, @Nullable String beforeOne, String two, @Nullable String beforeTwo, String got) {
    var recorder = new Recorder<Input, Output>(new AtomicLong()::incrementAndGet);
    var client = recorder.client("client");
    var first = client.begin(new Input.Put("k", one));
    first.returned(new Output.Replaced(Optional.ofNullable(beforeOne)));
    var second = client.begin(new Input.Put("k", two));
    second.returned(new Output.Replaced(Optional.ofNullable(beforeTwo)));
    client.begin(new Input.Get("k")).returned(new Output.Found(Optional.of(got)));
    return Linearizability.check(new ListenableModel(), recorder.history());
  }
}
