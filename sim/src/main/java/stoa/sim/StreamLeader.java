package stoa.sim;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer;
import stoa.log.Sequencer.Answer;
import stoa.log.Sequencer.Demand;
import stoa.log.Sequencer.Fate;
import stoa.log.Sequencer.Issued;
import stoa.log.core.Command;
import stoa.log.core.Coordinator;
import stoa.log.core.Outbox;
import stoa.log.core.Shard;
import stoa.log.core.StreamEntry;
import stoa.log.core.StreamUnit;
import stoa.sim.StreamMessage.Kind;
import stoa.sim.StreamMessage.Node;

/// The leader of a shard of the stream store, for one term: it proposes commands, answers from what
/// its replica has applied, and delivers what the shard's outbox holds.
///
/// One owner. When the leader changes, a new one begins with nothing but what is in the log.
final class StreamLeader {
  /* How many deliveries are sent at once. */
  private static final int SENT_MAX = 8;
  private static final int BATCH_MAX = 4;
  private static final int PROPOSALS_MAX = 12;
  private static final int READERS_MAX = 64;

  private record Proposal(Command command, Consumer<Shard.Applied> told) {}

  private final StreamWorld world;
  private final int index;
  private final SimulatedCommands commands;
  private final long term;
  private final Deque<Proposal> proposals = new ArrayDeque<>();
  /* Deliveries that are proposed and not yet applied. */
  private final Set<Long> delivering = new HashSet<>();
  private boolean proposing;
  private boolean open;
  /* The epoch in which the sequencer has adopted this leader. */
  private long adopted;
  /* Appends that wait for a token, in order, and those of the batch that has one. */
  private final Map<Long, StreamMessage.Append> waiting = new LinkedHashMap<>();
  private List<StreamMessage.Append> batch = List.of();
  private @Nullable LogAddress batchAt;
  private final List<StreamMessage.Read> readers = new ArrayList<>();
  private long grantRequest = -1;
  private long adoptRequest = -1;
  private boolean acknowledging;
  private final List<Long> arrived = new ArrayList<>();

  StreamLeader(StreamWorld world, int index, SimulatedCommands commands) {
    this.world = world;
    this.index = index;
    this.commands = commands;
    this.term = commands.term();
    propose(new Command.Open(), _ -> open = true);
  }

  private Shard shard() {
    return commands.leader();
  }

  private Node me() {
    return new Node(Kind.SHARD, index);
  }

  private long next() {
    return world.number();
  }

  private void propose(Command command, Consumer<Shard.Applied> told) {
    proposals.addLast(new Proposal(command, told));
    pump();
  }

  private void pump() {
    if (proposing || proposals.isEmpty()) return;
    proposing = true;
    var proposal = proposals.removeFirst();
    commands.propose(
        proposal.command,
        (_, applied) -> {
          proposing = false;
          proposal.told.accept(applied);
          answerReaders();
          pump();
        });
  }

  void on(StreamMessage message) {
    /* Whatever is refused because there is too much comes again. */
    if (!open || proposals.size() >= PROPOSALS_MAX) return;
    switch (message) {
      case StreamMessage.Append append -> append(append);
      case StreamMessage.GrantIs(long number, Answer answer) -> granted(number, answer);
      case StreamMessage.Adopted told -> adopted(told);
      case StreamMessage.Put put -> put(put);
      case StreamMessage.Settle settle -> settle(settle);
      case StreamMessage.Deliver deliver -> deliver(deliver);
      case StreamMessage.Acknowledge(long item, long epoch) -> {
        /* Of an older epoch, it may be for an item of a shard that was lost. */
        if (epoch == shard().epoch()) arrived.add(item);
      }
      case StreamMessage.RowOf(Node from, Sequencer.Question.OfStream question) -> {
        var row = shard().streamUnit().row(question.stream());
        if (shard().epoch() == from.number() && row != null) {
          world.send(from, new StreamMessage.RowIs(question, row));
        }
      }
      case StreamMessage.SessionOf(Node from, Sequencer.Question.OfSession question) -> {
        if (shard().epoch() != from.number()) return;
        var known = shard().sessions().known(question.id());
        var address = shard().sessions().address(question.id());
        world.send(from, new StreamMessage.SessionIs(question, known, address));
      }
      case StreamMessage.Seal seal -> seal(seal);
      case StreamMessage.Close(Node from, long epoch, long start) -> {
        if (shard().epoch() != epoch) return;
        propose(
            new Command.Close(epoch, start),
            applied -> {
              if (applied == Shard.Applied.DONE || applied == Shard.Applied.SAME) {
                world.send(from, new StreamMessage.Closed(index, epoch));
              }
            });
      }
      case StreamMessage.Rebuild(Node from, int lost) -> {
        if (shard().epoch() != from.number()) return;
        propose(
            new Command.Rebuild(lost),
            applied -> {
              if (applied == Shard.Applied.DONE) {
                world.send(from, new StreamMessage.RebuildSent(index, lost));
              }
            });
      }
      case StreamMessage.Rebuilt(Node from, long sessionsBelow) -> {
        if (shard().epoch() != from.number()) return;
        propose(
            new Command.Rebuilt(sessionsBelow),
            applied -> {
              if (applied == Shard.Applied.DONE || applied == Shard.Applied.SAME) {
                world.send(from, new StreamMessage.RebuiltIs(index));
              }
            });
      }
      case StreamMessage.Read read -> {
        readers.add(read);
        answerReaders();
      }
      case StreamMessage.ReadLog(Node from, long number, long counter) ->
          world.send(from, new StreamMessage.LogIs(number, shard().read(counter)));
      case StreamMessage.Trim(Node from, long number, StreamId stream, long before) ->
          propose(
              new Command.Trim(stream, before),
              applied -> {
                if (applied == Shard.Applied.DONE) {
                  world.send(from, new StreamMessage.Done(number));
                }
              });
      default -> throw new IllegalStateException("a shard does not take " + message);
    }
  }

  /// Does what is due: asks for tokens, delivers, acknowledges.
  void tick() {
    if (!open) return;
    adoptOrGrant();
    int sent = 0;
    for (Outbox.Item item : shard().outbox().items()) {
      if (arrived.contains(item.number())) continue;
      if (sent++ == SENT_MAX) break;
      world.send(
          new Node(Kind.SHARD, item.target()),
          new StreamMessage.Deliver(me(), item.number(), shard().epoch(), item.command()));
    }
    if (!arrived.isEmpty() && !acknowledging) {
      var items = List.copyOf(arrived);
      acknowledging = true;
      propose(
          new Command.Acknowledged(items),
          _ -> {
            acknowledging = false;
            arrived.removeAll(items);
          });
    }
  }

  private void adoptOrGrant() {
    long epoch = world.epoch();
    if (epoch != shard().epoch() || shard().closed() != epoch) return;
    if (adopted != epoch) {
      adoptRequest = next();
      world.send(world.sequencer(), new StreamMessage.Adopt(me(), adoptRequest, index, term));
    } else if (batch.isEmpty() && !waiting.isEmpty()) {
      gather();
      ask();
    } else if (!batch.isEmpty() && batchAt == null) {
      ask();
    }
  }

  private void gather() {
    List<StreamMessage.Append> taken = new ArrayList<>();
    for (var append : List.copyOf(waiting.values())) {
      if (taken.size() == BATCH_MAX) break;
      taken.add(append);
      waiting.remove(append.id().session());
    }
    batch = taken;
    batchAt = null;
  }

  /* Each time under a new number: a token of an earlier answer is never used. */
  private void ask() {
    Map<StreamId, Demand> demands = new LinkedHashMap<>();
    for (int i = 0; i < batch.size(); i++) {
      for (var write : batch.get(i).writes()) {
        int change = write.sort() == StreamEntry.Sort.CHANGE ? i : -1;
        demands.merge(
            write.stream(),
            new Demand(write.stream(), 1, i, change),
            (one, two) ->
                new Demand(
                    one.stream(),
                    one.count() + 1,
                    two.last(),
                    Math.max(one.lastChange(), two.lastChange())));
      }
    }
    grantRequest = next();
    var holder = new Sequencer.Holder.Shard(index, term);
    world.send(
        world.sequencer(),
        new StreamMessage.GrantBatch(
            me(), grantRequest, holder, batch.size(), List.copyOf(demands.values())));
  }

  private void append(StreamMessage.Append append) {
    switch (shard().sessions().known(append.id())) {
      case TAKEN -> {
        var address = shard().sessions().address(append.id());
        if (address != null) {
          world.send(append.from(), new StreamMessage.Appended(append.number(), address));
        }
      }
      case OLD -> world.reached("a late repeat of an append");
      case EXPIRED -> world.send(append.from(), new StreamMessage.Forgotten(append.number()));
      case NOT_TAKEN -> {
        boolean here = batch.stream().anyMatch(other -> other.id().equals(append.id()));
        var other = waiting.get(append.id().session());
        boolean newer = other == null || other.id().sequence() <= append.id().sequence();
        if (!here && newer) waiting.put(append.id().session(), append);
      }
    }
  }

  private void granted(long number, Answer answer) {
    if (number != grantRequest) return;
    switch (answer) {
      case Answer.Granted(var token, var issued) -> {
        if (batch.isEmpty() || batchAt != null) return;
        grantRequest = -1;
        batchAt = token.first();
        var appends = appended(token.first(), issued);
        propose(new Command.Append(appends), applied -> appended(appends, applied));
      }
      case Answer.WrongTerm _ -> adopted = 0;
      default -> {
        // Asked for again.
      }
    }
  }

  private List<Command.Appended> appended(LogAddress first, List<Issued> issued) {
    Map<StreamId, Long> next = new LinkedHashMap<>();
    for (var of : issued) next.put(of.stream(), of.first());
    List<Command.Appended> appends = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      var at = new LogAddress(first.epoch(), first.counter() + i);
      List<StreamEntry> entries = new ArrayList<>();
      for (Coordinator.Write write : batch.get(i).writes()) {
        long address = next.merge(write.stream(), 1L, Long::sum) - 1;
        entries.add(new StreamEntry(write.stream(), address, at, write.sort(), write.payload()));
      }
      appends.add(new Command.Appended(at, batch.get(i).id(), entries));
    }
    return appends;
  }

  private void appended(List<Command.Appended> appends, Shard.Applied applied) {
    var of = batch;
    batch = List.of();
    batchAt = null;
    if (applied == Shard.Applied.DONE) {
      for (int i = 0; i < of.size(); i++) {
        var address = appends.get(i).address();
        world.send(of.get(i).from(), new StreamMessage.Appended(of.get(i).number(), address));
      }
      tellSettled(appends.getFirst().address(), Fate.HERE);
      return;
    }
    world.reached("a batch is " + applied);
    for (var append : of) waiting.putIfAbsent(append.id().session(), append);
  }

  private void tellSettled(LogAddress first, Fate fate) {
    world.send(new Node(Kind.SEQUENCER, first.epoch()), new StreamMessage.Settled(first, fate));
  }

  private void adopted(StreamMessage.Adopted told) {
    if (told.number() != adoptRequest || told.epoch() != shard().epoch()) return;
    adoptRequest = -1;
    var outstanding = told.outstanding();
    if (outstanding == null) return;
    adopted = told.epoch();
    for (var unsettled : outstanding) settleBatch(unsettled, 0);
  }

  private void settle(StreamMessage.Settle settle) {
    var unsettled = settle.unsettled();
    LogAddress first = unsettled.token().first();
    switch (unsettled.holder()) {
      case Sequencer.Holder.Shard(int _, long of) -> {
        if (of > term || first.equals(batchAt)) return;
        /* A token of this term whose answer was dropped, or is still on its way: whatever is on its
         * way is no longer waited for. */
        if (of == term) grantRequest = -1;
        settleBatch(unsettled, settle.settledBelow());
      }
      case Sequencer.Holder.LogUnit _ ->
          propose(
              new Command.Fill(first, unsettled.issued()),
              applied -> {
                if (applied == Shard.Applied.DONE) world.reached("a hole is filled");
                if (applied != Shard.Applied.OLD_EPOCH) tellDelivered(first);
              });
    }
  }

  private void settleBatch(Sequencer.Unsettled unsettled, long settledBelow) {
    LogAddress first = unsettled.token().first();
    propose(
        new Command.Never(unsettled.token(), unsettled.issued(), settledBelow),
        applied -> {
          if (applied == Shard.Applied.OLD_EPOCH || applied == Shard.Applied.OLD_TERM) return;
          if (applied == Shard.Applied.DONE) world.reached("a batch is given up");
          if (applied == Shard.Applied.TAKEN) world.reached("a batch is found");
          tellSettled(first, applied == Shard.Applied.TAKEN ? Fate.HERE : Fate.HOLE);
        });
  }

  /* Tells the sequencer when every shard has its part of what stands at an address. */
  private void tellDelivered(LogAddress address) {
    var fate = shard().fate(address);
    if (fate != null) tellSettled(address, fate);
  }

  private void put(StreamMessage.Put put) {
    LogAddress address = put.record().address();
    propose(
        new Command.Put(put.record()),
        applied -> {
          var written =
              switch (applied) {
                case DONE, SAME -> {
                  boolean delivered = shard().outbox().isDelivered(address.counter());
                  if (delivered) tellDelivered(address);
                  yield delivered ? Coordinator.Written.DELIVERED : Coordinator.Written.STORED;
                }
                case TAKEN -> Coordinator.Written.TAKEN;
                case OLD_EPOCH -> Coordinator.Written.OLD_EPOCH;
                case OLD_TERM, NOT_YET -> null;
              };
          if (written != null) {
            world.send(put.from(), new StreamMessage.Written(put.number(), written));
          }
        });
  }

  private void deliver(StreamMessage.Deliver deliver) {
    long key = deliver.from().number() << 40 | deliver.item();
    if (!delivering.add(key)) return;
    propose(
        new Command.Deliver(deliver.epoch(), deliver.command()),
        applied -> {
          delivering.remove(key);
          if (applied == Shard.Applied.DONE || applied == Shard.Applied.SAME) {
            world.send(
                deliver.from(), new StreamMessage.Acknowledge(deliver.item(), deliver.epoch()));
          } else {
            world.reached("a delivery is " + applied);
          }
        });
  }

  private void seal(StreamMessage.Seal seal) {
    long epoch = seal.epoch();
    Runnable tell =
        () -> {
          if (shard().epoch() != epoch) return;
          int left = shard().outbox().items().size();
          world.send(
              seal.from(),
              new StreamMessage.Sealed(
                  index, epoch, seal.round(), shard().isRebuilding(), shard().counter(), left));
        };
    if (shard().epoch() >= epoch) tell.run();
    else propose(new Command.Seal(epoch), _ -> tell.run());
  }

  private void answerReaders() {
    if (!open) return;
    for (var read : List.copyOf(readers)) {
      if (read.epoch() < shard().epoch() || shard().closed() != shard().epoch()) {
        /* Its bound may never be reached; it is read again with a new one. */
        readers.remove(read);
        continue;
      }
      var unit = shard().streamUnit();
      switch (unit.extent(read.stream(), read.at(), read.bound())) {
        case StreamUnit.Extent.NotYet _ -> {
          continue;
        }
        case StreamUnit.Extent.TooOld _ ->
            world.send(read.from(), new StreamMessage.TooOld(read.number()));
        case StreamUnit.Extent.UpTo(long last) -> {
          List<StreamEntry> entries = new ArrayList<>();
          long first = unit.versions().first(read.stream());
          for (long at = first; at <= last; at++) {
            entries.add(unit.versions().read(read.stream(), at));
          }
          world.send(read.from(), new StreamMessage.Entries(read.number(), first, entries));
        }
      }
      readers.remove(read);
    }
    if (readers.size() > READERS_MAX) readers.removeFirst();
  }
}
