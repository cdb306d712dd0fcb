package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LinearizabilityTest {
  record Case<S, I, O>(
      String name, boolean good, Model<S, I, O> model, Timeline<I, O> timeline, String drawing) {
    Verdict<S, I, O> verdict() {
      return Linearizability.check(model, timeline.parse(drawing));
    }

    @Override
    public String toString() {
      return (good ? "accepts " : "refuses ") + name;
    }
  }

  private static Case<?, ?, ?> register(String name, boolean good, String drawing) {
    return new Case<>(name, good, new RegisterModel(), Timeline.register(), drawing);
  }

  private static Case<?, ?, ?> counter(String name, boolean good, String drawing) {
    return new Case<>(name, good, new CounterModel(), Timeline.counter(), drawing);
  }

  private static Case<?, ?, ?> queue(String name, boolean good, String drawing) {
    return new Case<>(name, good, new QueueModel(), Timeline.queue(), drawing);
  }

  private static Case<?, ?, ?> map(String name, boolean good, String drawing) {
    return new Case<>(name, good, new MapModel(), Timeline.map(), drawing);
  }

  private static Case<?, ?, ?> list(String name, boolean good, String drawing) {
    return new Case<>(name, good, new AppendListModel(), Timeline.list(), drawing);
  }

  static Stream<Case<?, ?, ?>> drawn() {
    return Stream.of(
        register("an empty history", true, ""),
        register(
            "a read of the initial value while a write is under way",
            true,
            """
            a: |-- write 1 > done --------|
            b:     |-- read > 0 --|
            """),
        register(
            "a read of the new value while the write is under way",
            true,
            """
            a: |-- write 1 > done --------|
            b:     |-- read > 1 --|
            """),
        register(
            "a stale read",
            false,
            """
            a: |-- write 1 > done --|
            b:                         |-- read > 0 --|
            """),
        register(
            "reads that go back in time while one write is under way",
            false,
            """
            a: |-- write 1 > done ---------------------------|
            b:     |-- read > 1 --|
            c:                       |-- read > 0 --|
            """),
        register(
            "overlapping reads that differ while one write is under way",
            true,
            """
            a: |-- write 1 > done ---------------------------|
            b:     |-- read > 1 -------|
            c:                   |-- read > 0 --|
            """),
        register(
            "two readers that see two writes in different orders",
            false,
            """
            a: |-- write 1 > done ---------------------------------------------|
            b: |-- write 2 > done ---------------------------------------------|
            c:       |-- read > 1 --|  |-- read > 2 --|
            d:       |-- read > 2 --|  |-- read > 1 --|
            """),
        register(
            "two readers that see two writes in one order",
            true,
            """
            a: |-- write 1 > done ---------------------------------------------|
            b: |-- write 2 > done ---------------------------------------------|
            c:       |-- read > 1 --|  |-- read > 2 --|
            d:       |-- read > 1 --|  |-- read > 2 --|
            """),
        register(
            "a value that nobody wrote",
            false,
            """
            a: |-- write 1 > done --|
            b:     |-- read > 7 --|
            """),
        register(
            "a lost update: two swaps from one value",
            false,
            """
            a: |-- swap 0 1 > true --|
            b: |-- swap 0 2 > true --|
            """),
        register(
            "one of two swaps",
            true,
            """
            a: |-- swap 0 1 > true --|
            b: |-- swap 0 2 > false --|
            c:                           |-- read > 1 --|
            """),
        register(
            "a swap that failed though nothing else happened",
            false,
            """
            a: |-- swap 0 1 > false --|
            """),
        register(
            "a pending write that took effect",
            true,
            """
            a: |-- write 1 ...
            b:                  |-- read > 1 --|
            """),
        register(
            "a pending write that takes effect late",
            true,
            """
            a: |-- write 1 ...
            b:   |-- read > 0 --|  |-- read > 0 --|  |-- read > 1 --|
            """),
        register(
            "a pending write that is taken back",
            false,
            """
            a: |-- write 1 ...
            b:   |-- read > 0 --|  |-- read > 1 --|  |-- read > 0 --|
            """),
        register(
            "a pending write that took effect before it began",
            false,
            """
            a:                     |-- write 1 ...
            b:   |-- read > 1 --|
            """),
        register(
            "a lost write that never took effect",
            true,
            """
            a: |-- write 1 --x
            b:                   |-- read > 0 --|
            """),
        register(
            "a lost write that took effect in time",
            true,
            """
            a: |-- write 1 --x
            b:                   |-- read > 1 --|
            """),
        register(
            "a lost write that takes effect after it was over",
            false,
            """
            a: |-- write 1 --x
            b:                   |-- read > 0 --|  |-- read > 1 --|
            """),
        register(
            "a lost write that takes effect while a later call runs",
            false,
            """
            a: |-- write 1 --x
            b:                   |-- write 2 > done --|  |-- read > 1 --|
            """),
        counter(
            "increments in an order that overlapping calls allow",
            true,
            """
            a: |-- inc > 2 --------|
            b:    |-- inc > 1 --|
            c:    |-- inc > 3 --|
            """),
        counter(
            "a duplicate answer",
            false,
            """
            a: |-- inc > 1 --|
            b: |-- inc > 1 --|
            """),
        counter(
            "a skipped value",
            false,
            """
            a: |-- inc > 1 --|  |-- inc > 3 --|
            """),
        counter(
            "a skipped value that a pending call explains",
            true,
            """
            a: |-- inc > 1 --|  |-- inc > 3 --|
            b:      |-- inc ...
            """),
        counter(
            "a pending call that was executed twice",
            false,
            """
            a: |-- inc > 1 --|  |-- inc > 4 --|
            b:      |-- inc ...
            """),
        counter(
            "two pending calls of which one is needed",
            true,
            """
            a:  |-- inc > 1 --|    |-- inc > 3 --|
            b: |-- inc ...
            c: |-- inc ...
            """),
        counter(
            "a reorder across clients",
            false,
            """
            a: |-- inc > 2 --|
            b:                  |-- inc > 1 --|
            """),
        counter(
            "a read of less than was acknowledged",
            false,
            """
            a: |-- inc > 1 --|  |-- inc > 2 --|
            b:                                   |-- read > 1 --|
            """),
        queue(
            "first in, first out",
            true,
            """
            a: |-- put 1 > none --|  |-- put 2 > none --|
            b:                           |-- take > 1 -----------|  |-- take > 2 --|
            """),
        queue(
            "last in, first out",
            false,
            """
            a: |-- put 1 > none --|  |-- put 2 > none --|
            b:                                             |-- take > 2 --|
            """),
        queue(
            "either order of overlapping puts",
            true,
            """
            a: |-- put 1 > none --|
            b:    |-- put 2 > none --|
            c:                           |-- take > 2 --|  |-- take > 1 --|
            """),
        queue(
            "one element taken twice",
            false,
            """
            a: |-- put 1 > none --|
            b:                       |-- take > 1 --|
            c:                       |-- take > 1 --|
            """),
        queue(
            "an empty answer though an element was there all the time",
            false,
            """
            a: |-- put 1 > none --|
            b:                       |-- take > none --|
            """),
        queue(
            "an empty answer explained by a pending take",
            true,
            """
            a: |-- put 1 > none --|
            b:   |-- take ...
            c:                       |-- take > none --|
            """),
        queue(
            "a lost element though no take is pending",
            false,
            """
            a: |-- put 1 > none --|  |-- put 2 > none --|
            b:                                             |-- take > 2 --|
            c:                                                               |-- take > none --|
            """),
        map(
            "keys that are independent",
            true,
            """
            a: |-- put x 1 > none --|  |-- put x 2 > 1 --|
            b: |-- put y 5 > none --|  |-- get y > 5 --|
            """),
        map(
            "a stale read of one of many keys",
            false,
            """
            a: |-- put x 1 > none --|  |-- put x 2 > 1 --|
            b: |-- put y 5 > none --|                       |-- get x > 1 --|
            """),
        map(
            "a removed key that returns",
            false,
            """
            a: |-- put x 1 > none --|  |-- remove x > 1 --|  |-- get x > 1 --|
            """),
        map(
            "a pending remove, seen",
            true,
            """
            a: |-- put x 1 > none --|
            b:   |-- remove x ...
            c:                         |-- get x > 1 --|  |-- get x > none --|
            """),
        list(
            "appends that see each other",
            true,
            """
            a: |-- append p > q p --|
            b: |-- append q > q -----|
            """),
        list(
            "appends that do not see each other",
            false,
            """
            a: |-- append p > p --|
            b: |-- append q > q --|
            """),
        list(
            "an append that vanished",
            false,
            """
            a: |-- append p > p --|  |-- append q > q --|
            """),
        list(
            "an append that happened twice",
            false,
            """
            a: |-- append p > p --|  |-- append q > p p q --|
            """),
        list(
            "a lost append found later",
            true,
            """
            a: |-- append p > p --|
            b:   |-- append z --x
            c:                         |-- read > p z --|
            """));
  }

  @ParameterizedTest
  @MethodSource("drawn")
  void decidesDrawnHistories(Case<?, ?, ?> drawn) {
    var verdict = drawn.verdict();
    if (drawn.good()) {
      assertInstanceOf(Verdict.Linearizable.class, verdict);
    } else {
      assertInstanceOf(Verdict.NotLinearizable.class, verdict);
    }
  }

  @Test
  void namesTheFirstCallThatCannotBePlacedAndAnOrderForAllBeforeIt() {
    var history =
        Timeline.register()
            .parse(
                """
                a: |-- write 1 > done --|              |-- read > 1 --|
                b:                         |-- read > 0 --|               |-- read > 5 --|
                c:               |-- write 3 ...
                """);
    var verdict = Linearizability.check(new RegisterModel(), history);
    assertEquals(
        """
        not linearizable, in the object:
          what was seen before it is explained by this order
            1. a: Write[value=1] → Done[]   [events 0..2]
            which ends in the state 1
          then no order explains
            b: Read[] → Value[value=0]   [events 3..5]
          while under way
            c: Write[value=3] → pending   [events 1..]
          while under way
            a: Read[] → pending   [events 4..]
        """,
        verdict.toString());
  }

  @Test
  void givesAnOrderThatIsARunOfTheModelAndKeepsRealTime() {
    var history =
        Timeline.queue()
            .parse(
                """
                a: |-- put 1 > none --|
                b:    |-- put 2 > none --|
                c:                           |-- take > 2 --|  |-- take > 1 --|
                """);
    var verdict = Linearizability.check(new QueueModel(), history);
    var good = assertInstanceOf(Verdict.Linearizable.class, verdict);
    assertEquals(
        "[b: Put[value=2] → Optional.empty, a: Put[value=1] → Optional.empty,"
            + " c: Take[] → Optional[2], c: Take[] → Optional[1]]",
        String.valueOf(good.orders().get("the object")));
  }

  @Test
  void failsWhenTheStepsDoNotSuffice() {
    var history =
        Timeline.counter()
            .parse(
                """
                a: |-- inc > 3 --|
                b: |-- inc > 2 --|
                c: |-- inc > 1 --|
                """);
    var verdict = Linearizability.check(new CounterModel(), history, 2);
    assertInstanceOf(Verdict.Undecided.class, verdict);
    assertTrue(verdict.toString().contains("not decided within 2 steps"), verdict.toString());
  }

  @Test
  void requireThrowsTheExplanation() {
    var history = Timeline.counter().parse("a: |-- inc > 2 --|");
    var error =
        assertThrows(
            AssertionError.class, () -> Linearizability.require(new CounterModel(), history));
    assertTrue(
        String.valueOf(error.getMessage()).contains("a: Increment[by=1] → 2"), error.toString());
  }

  @Test
  void refusesHistoriesThatAreNone() {
    List<CallHistory.Event<String, String>> twice =
        List.of(new CallHistory.Invoked<>(1, "a", "x"), new CallHistory.Invoked<>(1, "a", "x"));
    assertThrows(IllegalArgumentException.class, () -> new CallHistory<>(twice));
    List<CallHistory.Event<String, String>> unbegun = List.of(new CallHistory.Returned<>(1, "x"));
    assertThrows(IllegalArgumentException.class, () -> new CallHistory<>(unbegun));
    List<CallHistory.Event<String, String>> over =
        List.of(
            new CallHistory.Invoked<>(1, "a", "x"),
            new CallHistory.Lost<>(1),
            new CallHistory.Returned<>(1, "x"));
    assertThrows(IllegalArgumentException.class, () -> new CallHistory<>(over));
  }
}
