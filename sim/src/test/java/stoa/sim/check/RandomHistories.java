package stoa.sim.check;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Random histories of a deterministic object, linearizable by construction.
///
/// Each client calls, its call takes effect at a random later moment, and answers at a random
/// moment after that. Some calls stay pending or are lost, having taken effect or not.
final class RandomHistories<S, I, O> {
  private final SequentialModel<S, I, O> model;
  private final Function<SplittableRandom, I> inputs;

  RandomHistories(SequentialModel<S, I, O> model, Function<SplittableRandom, I> inputs) {
    this.model = model;
    this.inputs = inputs;
  }

  private enum Stage {
    IDLE,
    CALLED,
    DONE,
    ABANDONED
  }

  private static final class Client<I, O> {
    Stage stage = Stage.IDLE;
    int call;
    @Nullable I input;
    @Nullable O output;
  }

  /// @param calls how many calls there are at most
  /// @param doubtfulPercent how many of them stay pending or are lost
  CallHistory<I, O> linearizable(
      SplittableRandom random, int clientCount, int calls, int doubtfulPercent) {
    List<CallHistory.Event<I, O>> events = new ArrayList<>();
    List<Client<I, O>> clients = new ArrayList<>();
    for (int i = 0; i < clientCount; i++) clients.add(new Client<>());
    S state = model.initial();
    int begun = 0;
    int idleTurns = 0;
    while (idleTurns < 100) {
      int at = random.nextInt(clients.size());
      var client = clients.get(at);
      idleTurns++;
      switch (client.stage) {
        case IDLE -> {
          if (begun == calls) continue;
          client.call = begun++;
          I input = inputs.apply(random);
          client.input = input;
          client.stage = Stage.CALLED;
          events.add(new CallHistory.Invoked<>(client.call, "c" + at, input));
        }
        case CALLED -> {
          boolean doubtful = random.nextInt(100) < doubtfulPercent;
          if (doubtful && random.nextBoolean()) {
            if (random.nextBoolean()) {
              events.add(new CallHistory.Lost<>(client.call));
              client.stage = Stage.IDLE;
            } else {
              client.stage = Stage.ABANDONED;
            }
          } else {
            var step = model.apply(state, Objects.requireNonNull(client.input));
            state = step.state();
            client.output = step.output();
            client.stage = Stage.DONE;
            if (doubtful && random.nextBoolean()) {
              events.add(new CallHistory.Lost<>(client.call));
              client.stage = Stage.IDLE;
            } else if (doubtful) {
              client.stage = Stage.ABANDONED;
            }
          }
        }
        case DONE -> {
          events.add(
              new CallHistory.Returned<>(client.call, Objects.requireNonNull(client.output)));
          client.stage = Stage.IDLE;
        }
        case ABANDONED -> {
          continue;
        }
      }
      idleTurns = 0;
    }
    return new CallHistory<>(events);
  }

  /// The history with the answer of one call replaced; the same history when it has no answers.
  CallHistory<I, O> corrupted(
      CallHistory<I, O> history, SplittableRandom random, Function<O, O> corruption) {
    List<Integer> answers = new ArrayList<>();
    var events = new ArrayList<>(history.events());
    for (int i = 0; i < events.size(); i++) {
      if (events.get(i) instanceof CallHistory.Returned) answers.add(i);
    }
    if (answers.isEmpty()) return history;
    int at = answers.get(random.nextInt(answers.size()));
    if (events.get(at) instanceof CallHistory.Returned<I, O>(int call, O output)) {
      events.set(at, new CallHistory.Returned<>(call, corruption.apply(output)));
    }
    return new CallHistory<>(events);
  }
}
