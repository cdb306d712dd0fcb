package stoa.sim;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.log.TransactionId;
import stoa.log.core.Coordinator;
import stoa.log.core.Coordinator.Effect;
import stoa.sim.StreamMessage.Kind;
import stoa.sim.StreamMessage.Node;

/// A server of the simulated stream store that commits transactions for clients. One owner.
final class StreamCoordinator {
  private static final int JOBS_MAX = 8;

  private static final class Job {
    private final Coordinator core;
    private final Node client;
    private long told;
    /* The number of the request that waits for a reply, and the effect that it is of. */
    private long request;
    private long effect;

    private Job(Coordinator core, Node client, long told) {
      this.core = core;
      this.client = client;
      this.told = told;
    }
  }

  private final StreamWorld world;
  private final Node me;
  private final SequencedMap<TransactionId, Job> jobs = new LinkedHashMap<>();

  StreamCoordinator(StreamWorld world, int index) {
    this.world = world;
    me = new Node(Kind.COORDINATOR, index);
  }

  /// Forgets everything.
  void crash() {
    jobs.clear();
  }

  void on(StreamMessage message) {
    switch (message) {
      case StreamMessage.End(Node from, long number, var transaction) -> {
        var job = jobs.get(transaction.id());
        if (job != null) {
          job.told = number;
          return;
        }
        if (jobs.size() == JOBS_MAX) jobs.pollFirstEntry();
        job = new Job(new Coordinator(transaction), from, number);
        jobs.putLast(transaction.id(), job);
        run(job, job.core.last());
      }
      case StreamMessage.GrantIs(long number, var answer) ->
          answered(number, job -> run(job, job.core.on(job.effect, answer)));
      case StreamMessage.Written(long number, var written) ->
          answered(number, job -> run(job, job.core.on(job.effect, written)));
      default -> throw new IllegalStateException("a coordinator does not take " + message);
    }
  }

  private void answered(long number, Predicate<Job> on) {
    for (var job : List.copyOf(jobs.values())) {
      if (job.request == number && on.test(job)) return;
    }
  }

  /* Does an effect under a new number, so that only its own reply counts. */
  private boolean run(Job job, @Nullable Effect effect) {
    if (effect == null) return false;
    job.request = world.number();
    again(job, effect);
    return true;
  }

  private void again(Job job, Effect effect) {
    switch (effect) {
      case Effect.Ask(long number, var transaction, var demands) -> {
        job.effect = number;
        world.send(
            world.sequencer(),
            new StreamMessage.GrantTransaction(me, job.request, transaction, demands));
      }
      case Effect.Put(long number, var record) -> {
        job.effect = number;
        long unit = world.layout().logUnit(record.address().counter());
        world.send(new Node(Kind.SHARD, unit), new StreamMessage.Put(me, job.request, record));
      }
      case Effect.Tell(var outcome) -> {
        world.reached("a transaction is " + outcome.getClass().getSimpleName());
        jobs.values().remove(job);
        world.send(job.client, new StreamMessage.Ended(job.told, outcome));
      }
    }
  }

  void tick() {
    for (var job : List.copyOf(jobs.values())) again(job, job.core.last());
  }
}
