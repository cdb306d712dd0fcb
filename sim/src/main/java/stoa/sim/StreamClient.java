package stoa.sim;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.TransactionId;
import stoa.log.core.Coordinator;
import stoa.log.core.Coordinator.Outcome;
import stoa.log.core.StreamEntry.Sort;
import stoa.sim.StreamMessage.Kind;
import stoa.sim.StreamMessage.Node;

/// A client of the simulated stream store: one operation after the other, each repeated until it is
/// answered. One owner.
final class StreamClient {
  private static final LogAddress END = new LogAddress(Long.MAX_VALUE, Long.MAX_VALUE);
  private static final int PATIENCE = 3;

  private final StreamWorld world;
  private final Chance chance;
  private final int index;
  private final Node me;
  private int left;
  private long session = -1;
  private long sessions;
  private long sequence;
  private StreamHistory.@Nullable Operation operation;
  /* The request under way. */
  private long request = -1;
  private int waited;
  private @Nullable Runnable again;
  private @Nullable Consumer<StreamMessage> then;
  private final SortedMap<StreamId, Long> seen = new TreeMap<>();

  StreamClient(StreamWorld world, Chance chance, int index, int operations) {
    this.world = world;
    this.chance = chance;
    this.index = index;
    this.left = operations;
    me = new Node(Kind.CLIENT, index);
  }

  boolean isDone() {
    return left == 0 && operation == null;
  }

  /// Forgets what it was about to do. What is under way may happen.
  void crash() {
    operation = null;
    session = -1;
    forget();
  }

  private void forget() {
    request = -1;
    again = null;
    then = null;
  }

  /* Sends a request until it is answered: the same one, or what `retry` begins again. */
  private void ask(
      LongFunction<StreamMessage> message,
      Node to,
      @Nullable Runnable retry,
      Consumer<StreamMessage> next) {
    request = world.number();
    waited = 0;
    then = next;
    long number = request;
    again = retry != null ? retry : () -> world.send(target(to), message.apply(number));
    world.send(target(to), message.apply(number));
  }

  private Node target(Node to) {
    return to.kind() == Kind.SEQUENCER ? world.sequencer() : to;
  }

  private Node sequencer() {
    return new Node(Kind.SEQUENCER, 0);
  }

  private Node shard(StreamId stream) {
    return new Node(Kind.SHARD, world.layout().shard(stream));
  }

  void tick() {
    var repeat = again;
    if (repeat != null) {
      if (++waited < PATIENCE) return;
      waited = 0;
      repeat.run();
    } else if (operation == null && left > 0) {
      left--;
      if (session < 0) open();
      else start();
    }
  }

  void on(StreamMessage message) {
    long number =
        switch (message) {
          case StreamMessage.TailIs tail -> tail.number();
          case StreamMessage.CheckIs check -> check.number();
          case StreamMessage.Appended appended -> appended.number();
          case StreamMessage.Forgotten forgotten -> forgotten.number();
          case StreamMessage.Entries entries -> entries.number();
          case StreamMessage.TooOld tooOld -> tooOld.number();
          case StreamMessage.Done done -> done.number();
          case StreamMessage.Ended ended -> ended.number();
          default -> throw new IllegalStateException("a client does not take " + message);
        };
    var next = then;
    if (number != request || next == null) return;
    forget();
    next.accept(message);
  }

  private void open() {
    tail(at -> {
      session = at.epoch() << 40 | (long) index << 32 | ++sessions;
      sequence = 0;
      start();
    });
  }

  private void tail(Consumer<LogAddress> next) {
    ask(
        number -> new StreamMessage.Tail(me, number),
        sequencer(),
        null,
        reply -> {
          if (reply instanceof StreamMessage.TailIs(long _, var at)) next.accept(at);
        });
  }

  private void start() {
    int dice = chance.below(100);
    sequence++;
    var now = world.history().begin(session + "#" + sequence);
    operation = now;
    if (dice < 25) append(now);
    else if (dice < 40) appendToSeveral(now);
    else if (dice < 75) transact(now);
    else if (dice < 85) readOnly(now);
    else if (dice < 94) readOne(now);
    else trim(now);
  }

  private void over() {
    operation = null;
  }

  private TransactionId id() {
    return new TransactionId(session, sequence);
  }

  private Coordinator.Write write(StreamHistory.Operation now, StreamId stream) {
    var sort = chance.percent(80) ? Sort.CHANGE : Sort.NOTE;
    String text = world.history().writes(now, stream, sort);
    return new Coordinator.Write(stream, sort, text.getBytes(StandardCharsets.UTF_8));
  }

  private List<StreamId> streams(int most) {
    List<StreamId> some = new ArrayList<>();
    for (int i = chance.between(1, most); i > 0; i--) {
      var stream = chance.of(world.streams());
      if (!some.contains(stream)) some.add(stream);
    }
    return some;
  }

  private void append(StreamHistory.Operation now) {
    var stream = chance.of(world.streams());
    List<Coordinator.Write> writes = new ArrayList<>();
    for (int i = chance.between(1, 2); i > 0; i--) writes.add(write(now, stream));
    if (world.appendsAtLeaders()) {
      var id = id();
      ask(
          number -> new StreamMessage.Append(me, number, id, writes),
          shard(stream),
          null,
          reply -> appended(now, reply));
    } else {
      end(now, new Coordinator.Transaction(id(), null, List.of(), writes));
    }
  }

  private void appended(StreamHistory.Operation now, StreamMessage reply) {
    switch (reply) {
      case StreamMessage.Appended(long _, var address) -> {
        world.history().committed(now, address);
        over();
      }
      case StreamMessage.Forgotten _ -> crash();
      default -> throw new IllegalStateException("no answer to an append: " + reply);
    }
  }

  private void appendToSeveral(StreamHistory.Operation now) {
    List<Coordinator.Write> writes = new ArrayList<>();
    for (var stream : streams(3)) writes.add(write(now, stream));
    end(now, new Coordinator.Transaction(id(), null, List.of(), writes));
  }

  private void end(StreamHistory.Operation now, Coordinator.Transaction transaction) {
    Node to = world.coordinator();
    long number = world.number();
    request = number;
    waited = 0;
    then = reply -> ended(now, reply);
    again = () -> world.send(world.coordinator(), new StreamMessage.End(me, number, transaction));
    world.send(to, new StreamMessage.End(me, number, transaction));
  }

  private void ended(StreamHistory.Operation now, StreamMessage reply) {
    if (!(reply instanceof StreamMessage.Ended(long _, var outcome))) return;
    switch (outcome) {
      case Outcome.Committed(var address) -> world.history().committed(now, address);
      case Outcome.Aborted(var stream, var winner) -> world.history().aborted(now, stream, winner);
      case Outcome.Unknown _ -> {
        world.reached("an outcome is unknown");
        crash();
      }
      case Outcome.Stale _ ->
          throw new AssertionError("what is under way is told to be a late repeat: " + now);
    }
    over();
  }

  private void transact(StreamHistory.Operation now) {
    var reads = streams(3);
    tail(at -> {
      world.history().at(now, at);
      read(
          now,
          at,
          reads,
          0,
          () -> {
            List<Coordinator.Write> writes = new ArrayList<>();
            for (var stream : streams(2)) writes.add(write(now, stream));
            if (chance.percent(60)) writes.add(write(now, chance.of(reads)));
            end(now, new Coordinator.Transaction(id(), at, reads, writes));
          });
    });
  }

  private void readOnly(StreamHistory.Operation now) {
    var reads = streams(4);
    tail(at -> {
      world.history().at(now, at);
      read(
          now,
          at,
          reads,
          0,
          () -> {
            world.history().end(now);
            over();
          });
    });
  }

  private void readOne(StreamHistory.Operation now) {
    read(
        now,
        END,
        List.of(chance.of(world.streams())),
        0,
        () -> {
          world.history().end(now);
          over();
        });
  }

  private void read(
      StreamHistory.Operation now, LogAddress at, List<StreamId> streams, int from, Runnable next) {
    if (from == streams.size()) {
      next.run();
      return;
    }
    var stream = streams.get(from);
    ask(
        number -> new StreamMessage.Check(me, number, stream),
        sequencer(),
        null,
        checked -> {
          if (!(checked instanceof StreamMessage.CheckIs(long _, long bound, long epoch))) return;
          ask(
              number -> new StreamMessage.Read(me, number, stream, at, bound, epoch),
              shard(stream),
              () -> read(now, at, streams, from, next),
              reply -> {
                if (!(reply instanceof StreamMessage.Entries entries)) {
                  world.reached("what is read is trimmed");
                  world.history().gaveUp(now);
                  over();
                  return;
                }
                world.history().saw(now, stream, at, entries.first(), entries.entries());
                seen.put(stream, entries.first() + entries.entries().size() - 1);
                read(now, at, streams, from + 1, next);
              });
        });
  }

  private void trim(StreamHistory.Operation now) {
    var stream = chance.of(world.streams());
    long before = seen.getOrDefault(stream, 0L);
    world.history().end(now);
    if (before == 0 || !world.trims()) {
      over();
      return;
    }
    long to = chance.between(1, (int) before);
    world.history().trimmed(stream, to);
    ask(number -> new StreamMessage.Trim(me, number, stream, to), shard(stream), null, _ -> over());
  }
}
