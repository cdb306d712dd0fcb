package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/// Compares the checker with a search through all orders, and breaks good histories.
class LinearizabilityCrossCheckTest {

  private static CounterModel.Input counterInput(SplittableRandom random) {
    return random.nextInt(3) == 0
        ? new CounterModel.Input.Read()
        : new CounterModel.Input.Increment(1);
  }

  private static RegisterModel.Input registerInput(SplittableRandom random) {
    return switch (random.nextInt(3)) {
      case 0 -> new RegisterModel.Input.Read();
      case 1 -> new RegisterModel.Input.Write(random.nextInt(3));
      default -> new RegisterModel.Input.Swap(random.nextInt(3), random.nextInt(3));
    };
  }

  private static QueueModel.Input queueInput(SplittableRandom random) {
    return random.nextBoolean()
        ? new QueueModel.Input.Take()
        : new QueueModel.Input.Put(random.nextInt(3));
  }

  private static MapModel.Input mapInput(SplittableRandom random) {
    String key = random.nextBoolean() ? "x" : "y";
    return switch (random.nextInt(3)) {
      case 0 -> new MapModel.Input.Get(key);
      case 1 -> new MapModel.Input.Put(key, random.nextInt(3));
      default -> new MapModel.Input.Remove(key);
    };
  }

  @Test
  void agreesWithTheSearchThroughAllOrders() {
    assertAgrees(new CounterModel(), LinearizabilityCrossCheckTest::counterInput, n -> n + 1, 1);
    assertAgrees(
        new RegisterModel(),
        LinearizabilityCrossCheckTest::registerInput,
        output ->
            switch (output) {
              case RegisterModel.Output.Value(long value) ->
                  new RegisterModel.Output.Value((value + 1) % 3);
              case RegisterModel.Output.Swapped(boolean swapped) ->
                  new RegisterModel.Output.Swapped(!swapped);
              case RegisterModel.Output.Done done -> done;
            },
        2);
    assertAgrees(
        new QueueModel(), LinearizabilityCrossCheckTest::queueInput, this::otherOptional, 3);
    assertAgrees(new MapModel(), LinearizabilityCrossCheckTest::mapInput, this::otherOptional, 4);
  }

  private Optional<Long> otherOptional(Optional<Long> answer) {
    return answer.isEmpty() ? Optional.of(1L) : Optional.of((answer.get() + 1) % 3);
  }

  private static <S, I, O> void assertAgrees(
      SequentialModel<S, I, O> model,
      Function<SplittableRandom, I> inputs,
      Function<O, O> corruption,
      long seed) {
    var histories = new RandomHistories<>(model, inputs);
    int good = 0;
    int bad = 0;
    for (int i = 0; i < 3_000; i++) {
      var random = new SplittableRandom(seed * 1_000_000 + i);
      int clients = 1 + random.nextInt(4);
      var history = histories.linearizable(random, clients, 1 + random.nextInt(7), 30);
      if (random.nextInt(3) > 0) history = histories.corrupted(history, random, corruption);
      boolean expected = anyOrder(model, history);
      var verdict = Linearizability.check(model, history);
      assertEquals(expected, verdict instanceof Verdict.Linearizable, history.toString());
      if (expected) {
        good++;
        assertProves(model, assertInstanceOf(Verdict.Linearizable.class, verdict), history);
      } else {
        bad++;
        assertInstanceOf(Verdict.NotLinearizable.class, verdict);
      }
    }
    assertTrue(good > 500 && bad > 500, "good " + good + ", bad " + bad);
  }

  /* The orders in the verdict are runs of the model, keep real time and hold every answer. */
  private static <S, I, O> void assertProves(
      Model<S, I, O> model, Verdict.Linearizable<?, ?, ?> verdict, CallHistory<I, O> history) {
    int certain = 0;
    for (var order : verdict.orders().values()) {
      S state = model.initial();
      long began = -1;
      for (var untyped : order) {
        @SuppressWarnings("unchecked") // Justification: the verdict is about this very history.
        var operation = (Operation<I, O>) untyped;
        assertTrue(operation.over() > began, "real time is kept: " + order);
        began = Math.max(began, operation.began());
        if (operation.certain()) certain++;
        List<S> next =
            operation.end() instanceof Operation.Answered<O>(O output)
                ? model.step(state, operation.input(), output)
                : model.stepUnseen(state, operation.input());
        state = next.getFirst();
      }
    }
    assertEquals(history.operations().stream().filter(Operation::certain).count(), certain);
  }

  /* The definition, as it stands: some subset with all certain calls, in some order. */
  private static <S, I, O> boolean anyOrder(Model<S, I, O> model, CallHistory<I, O> history) {
    List<Object> parts =
        history.operations().stream()
            .map(operation -> model.partition(operation.input()))
            .distinct()
            .toList();
    for (Object part : parts) {
      var operations =
          history.operations().stream()
              .filter(operation -> model.partition(operation.input()).equals(part))
              .toList();
      if (!anyOrder(model, model.initial(), operations, new ArrayList<>())) return false;
    }
    return true;
  }

  private static <S, I, O> boolean anyOrder(
      Model<S, I, O> model,
      S state,
      List<Operation<I, O>> operations,
      List<Operation<I, O>> placed) {
    if (placed.containsAll(operations.stream().filter(Operation::certain).toList())) return true;
    for (var operation : operations) {
      if (placed.contains(operation)) continue;
      if (placed.stream().anyMatch(earlier -> operation.over() < earlier.began())) continue;
      List<S> next =
          operation.end() instanceof Operation.Answered<O>(O output)
              ? model.step(state, operation.input(), output)
              : model.stepUnseen(state, operation.input());
      for (S following : next) {
        placed.add(operation);
        if (anyOrder(model, following, operations, placed)) return true;
        placed.removeLast();
      }
    }
    return false;
  }

  @Test
  void decidesLongHistoriesOfManyClients() {
    var histories =
        new RandomHistories<>(new RegisterModel(), LinearizabilityCrossCheckTest::registerInput);
    for (int seed = 0; seed < 20; seed++) {
      var history = histories.linearizable(new SplittableRandom(seed), 10, 2_000, 1);
      Linearizability.require(new RegisterModel(), history);
    }
  }

  @Test
  void findsOneWrongAnswerInALongCounterHistory() {
    // Without pending calls the answers of increments are a permutation of 1..n: any other answer
    // must be refused.
    var histories =
        new RandomHistories<>(new CounterModel(), _ -> new CounterModel.Input.Increment(1));
    for (int seed = 0; seed < 50; seed++) {
      var random = new SplittableRandom(seed);
      var history = histories.linearizable(random, 6, 300, 0);
      Linearizability.require(new CounterModel(), history);
      long delta = random.nextBoolean() ? 1 : -1;
      var broken = histories.corrupted(history, random, answer -> answer + delta);
      var verdict = Linearizability.check(new CounterModel(), broken);
      assertInstanceOf(Verdict.NotLinearizable.class, verdict);
    }
  }

  @Test
  void findsOneWrongAnswerInALongListHistory() {
    var histories =
        new RandomHistories<>(
            new AppendListModel(),
            random ->
                random.nextInt(4) == 0
                    ? new AppendListModel.Input.Read()
                    : new AppendListModel.Input.Append("e" + random.nextInt(1_000_000)));
    for (int seed = 0; seed < 50; seed++) {
      var random = new SplittableRandom(seed);
      var history = histories.linearizable(random, 5, 120, 5);
      Linearizability.require(new AppendListModel(), history);
      // An element that was answered goes missing, or a foreign one appears.
      boolean drop = random.nextBoolean();
      var broken =
          histories.corrupted(
              history,
              random,
              answer -> {
                var other = new ArrayList<>(answer);
                if (drop && !other.isEmpty()) {
                  other.removeFirst();
                } else {
                  other.addFirst("foreign");
                }
                return List.copyOf(other);
              });
      var verdict = Linearizability.check(new AppendListModel(), broken);
      // The first element of all cannot be missed or replaced, unless it was the only answer.
      assertInstanceOf(Verdict.NotLinearizable.class, verdict, () -> broken.toString());
    }
  }

  @Test
  void findsASwappedPairOfAnswersThatRealTimeForbids() {
    var histories =
        new RandomHistories<>(new CounterModel(), _ -> new CounterModel.Input.Increment(1));
    int swapped = 0;
    for (int seed = 0; seed < 50; seed++) {
      var history = histories.linearizable(new SplittableRandom(seed), 3, 60, 0);
      var operations = history.operations();
      var first = operations.getFirst();
      var last = operations.getLast();
      if (first.over() >= last.began()) continue;
      swapped++;
      var events = new ArrayList<>(history.events());
      var firstReturn = events.get((int) first.over());
      var lastReturn = events.get((int) last.over());
      if (firstReturn instanceof CallHistory.Returned<CounterModel.Input, Long>(int a, Long x)
          && lastReturn instanceof CallHistory.Returned<CounterModel.Input, Long>(int b, Long y)) {
        events.set((int) first.over(), new CallHistory.Returned<>(a, y));
        events.set((int) last.over(), new CallHistory.Returned<>(b, x));
      }
      var verdict = Linearizability.check(new CounterModel(), new CallHistory<>(events));
      assertInstanceOf(Verdict.NotLinearizable.class, verdict);
    }
    assertTrue(swapped > 40, "swapped " + swapped);
  }
}
