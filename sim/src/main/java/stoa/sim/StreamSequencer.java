package stoa.sim;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import stoa.log.Sequencer;
import stoa.log.Sequencer.Answer;
import stoa.log.Sequencer.Question;
import stoa.sim.StreamMessage.Kind;
import stoa.sim.StreamMessage.Node;

/// The sequencer of an epoch of the simulated stream store: it recovers from the shards, then
/// answers. One owner.
final class StreamSequencer {
  /* Small, so that streams and sessions are forgotten. */
  private static final Sequencer.Limits LIMITS = new Sequencer.Limits(6, 2, 12, 32);
  private static final int PARKED_MAX = 32;
  private static final int PATIENCE = 4;

  private final StreamWorld world;
  private final long epoch;
  private final Node me;
  private @Nullable Sequencer core;
  private final Map<Integer, StreamMessage.Sealed> sealed = new TreeMap<>();
  private final Set<Integer> restored = new TreeSet<>();
  private final Set<Integer> rebuilt = new TreeSet<>();
  private final Set<Integer> closed = new TreeSet<>();
  private @Nullable Integer lost;
  private long start;
  private long round = 1;
  /* Requests that wait for answers of shards, and those questions. */
  private final List<StreamMessage> parked = new ArrayList<>();
  private final Map<Object, Question> questions = new LinkedHashMap<>();
  /* For how many ticks a token has been unsettled. */
  private final Map<Long, Integer> ages = new TreeMap<>();

  StreamSequencer(StreamWorld world, long epoch) {
    this.world = world;
    this.epoch = epoch;
    me = new Node(Kind.SEQUENCER, epoch);
  }

  boolean isActive() {
    return core != null;
  }

  void on(StreamMessage message) {
    switch (message) {
      case StreamMessage.Sealed told -> sealed(told);
      case StreamMessage.RebuildSent(int shard, int of) -> {
        /* What was told before says nothing about what is delivered for it. */
        if (lost != null && lost == of && restored.add(shard) && start == 0) again();
      }
      case StreamMessage.RebuiltIs(int shard) -> {
        if (lost != null && lost == shard) rebuilt.add(shard);
      }
      case StreamMessage.Closed told -> closed(told);
      default -> {
        if (core != null) onActive(core, message);
      }
    }
  }

  private void onActive(Sequencer sequencer, StreamMessage message) {
    switch (message) {
      case StreamMessage.Tail(Node from, long number) -> {
        if (leads()) world.send(from, new StreamMessage.TailIs(number, sequencer.tail()));
      }
      case StreamMessage.Check check -> check(sequencer, check);
      case StreamMessage.GrantBatch request -> {
        var answer = sequencer.grant(request.holder(), request.count(), request.demands());
        granted(sequencer, request, request.from(), request.number(), answer);
      }
      case StreamMessage.GrantTransaction request -> {
        var of = request.transaction();
        var answer = sequencer.grant(of.id(), of.at(), of.reads(), request.demands());
        granted(sequencer, request, request.from(), request.number(), answer);
      }
      case StreamMessage.Adopt(Node from, long number, int shard, long term) ->
          world.send(from, new StreamMessage.Adopted(number, epoch, sequencer.adopt(shard, term)));
      case StreamMessage.Settled(var first, var fate) -> sequencer.settled(first, fate);
      case StreamMessage.SettleUpTo(long counter) -> {
        for (var unsettled : sequencer.unsettled()) {
          if (unsettled.token().first().counter() <= counter) settle(sequencer, unsettled);
        }
      }
      case StreamMessage.RowIs(var question, var row) -> {
        var asked = known(question.stream(), question);
        sequencer.learn(
            (Question.OfStream) asked,
            row.last(),
            row.last() == 0 ? null : row.log(),
            row.change().counter() == 0 ? null : row.change());
        unpark(sequencer);
      }
      case StreamMessage.SessionIs(var question, var known, var address) -> {
        var answer =
            sequencer.learn((Question.OfSession) known(question.id(), question), known, address);
        if (answer != null) tell(question, answer);
        unpark(sequencer);
      }
      default -> throw new IllegalStateException("a sequencer does not take " + message);
    }
  }

  /* A broken rule takes any answer for one to the latest question. */
  private Question known(Object about, Question question) {
    var latest = questions.get(about);
    return world.rules().dropsOldAnswers() || latest == null ? question : latest;
  }

  private void tell(Question.OfSession question, Answer answer) {
    for (var request : List.copyOf(parked)) {
      if (request instanceof StreamMessage.GrantTransaction of
          && of.transaction().id().equals(question.id())) {
        parked.remove(request);
        world.send(of.from(), new StreamMessage.GrantIs(of.number(), answer));
      }
    }
  }

  private void check(Sequencer sequencer, StreamMessage.Check check) {
    if (!leads()) return;
    List<Question> asked = new ArrayList<>();
    Long bound = sequencer.check(check.stream(), asked);
    if (bound == null) park(check, asked);
    else world.send(check.from(), new StreamMessage.CheckIs(check.number(), bound, epoch));
  }

  private void granted(
      Sequencer sequencer, StreamMessage request, Node from, long number, Answer answer) {
    world.reached("a token is " + answer.getClass().getSimpleName());
    if (answer instanceof Answer.Ask(List<Question> asked)) {
      park(request, asked);
      return;
    }
    if (answer instanceof Answer.Granted(var token, var _) && !world.rules().waitsForArbiters()) {
      sequencer.settled(token.first(), Sequencer.Fate.HERE);
    }
    world.send(from, new StreamMessage.GrantIs(number, world.rules().answered(answer)));
  }

  private void park(StreamMessage request, List<Question> asked) {
    if (parked.size() == PARKED_MAX) parked.removeFirst();
    parked.add(request);
    for (var question : asked) {
      Object about =
          switch (question) {
            case Question.OfStream of -> of.stream();
            case Question.OfSession of -> of.id();
          };
      if (!question.equals(questions.put(about, question))) send(question);
    }
  }

  private void send(Question question) {
    switch (question) {
      case Question.OfStream of -> world.send(shard(of.stream()), new StreamMessage.RowOf(me, of));
      case Question.OfSession of ->
          world.send(shard(of.stream()), new StreamMessage.SessionOf(me, of));
    }
  }

  private Node shard(stoa.base.StreamId stream) {
    return new Node(Kind.SHARD, world.layout().shard(stream));
  }

  private void unpark(Sequencer sequencer) {
    var requests = List.copyOf(parked);
    parked.clear();
    for (var request : requests) onActive(sequencer, request);
  }

  /* Its lease is over when a newer epoch has begun. */
  private boolean leads() {
    return world.epoch() == epoch;
  }

  void tick() {
    var sequencer = core;
    if (sequencer == null) {
      recover();
      return;
    }
    if (!parked.isEmpty()) {
      /* Questions or their answers may be lost: they are asked again. */
      questions.clear();
      unpark(sequencer);
    }
    var unsettled = sequencer.unsettled();
    ages.keySet()
        .removeIf(
            first -> unsettled.stream().noneMatch(of -> of.token().first().counter() == first));
    for (var of : unsettled) {
      if (ages.merge(of.token().first().counter(), 1, Integer::sum) > PATIENCE) {
        settle(sequencer, of);
      }
    }
  }

  private void settle(Sequencer sequencer, Sequencer.Unsettled unsettled) {
    long shard =
        switch (unsettled.holder()) {
          case Sequencer.Holder.Shard(int of, long _) -> of;
          case Sequencer.Holder.LogUnit _ ->
              world.layout().logUnit(unsettled.token().first().counter());
        };
    long below = sequencer.settledTail().counter() + 1;
    world.send(new Node(Kind.SHARD, shard), new StreamMessage.Settle(unsettled, below));
  }

  private void recover() {
    if (start == 0) {
      everybody(new StreamMessage.Seal(me, epoch, round));
      return;
    }
    Integer of = lost;
    if (of != null && !rebuilt.contains(of)) {
      long below = world.sessionsBefore(epoch);
      world.send(new Node(Kind.SHARD, of), new StreamMessage.Rebuilt(me, below));
      return;
    }
    everybody(new StreamMessage.Close(me, epoch, start));
  }

  private void everybody(StreamMessage message) {
    for (int i = 0; i < world.layout().shards(); i++) {
      world.send(new Node(Kind.SHARD, i), message);
    }
  }

  private void sealed(StreamMessage.Sealed told) {
    if (told.epoch() != epoch || told.round() != round || start != 0) return;
    sealed.put(told.shard(), told);
    if (sealed.size() < world.layout().shards()) return;
    long counter = 0;
    boolean delivered = true;
    for (var shard : sealed.values()) {
      counter = Math.max(counter, shard.counter());
      delivered &= shard.undelivered() == 0;
    }
    for (var shard : sealed.values()) {
      if (shard.lost() && lost == null) {
        lost = shard.shard();
        world.reached("a shard is rebuilt");
      }
    }
    if (lost != null && restored.size() < world.layout().shards() - 1) {
      again();
      for (int i = 0; i < world.layout().shards(); i++) {
        if (i != lost && !restored.contains(i)) {
          world.send(new Node(Kind.SHARD, i), new StreamMessage.Rebuild(me, lost));
        }
      }
      return;
    }
    if (!delivered && world.rules().waitsForDeliveries()) {
      again();
      return;
    }
    start = counter + 1;
  }

  /* What was told before counts no longer. */
  private void again() {
    sealed.clear();
    round++;
  }

  private void closed(StreamMessage.Closed told) {
    if (told.epoch() != epoch) return;
    closed.add(told.shard());
    if (core == null && closed.size() == world.layout().shards()) {
      core = new Sequencer(epoch, start - 1, LIMITS);
      world.reached("a sequencer is active");
    }
  }
}
