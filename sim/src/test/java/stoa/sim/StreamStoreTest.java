package stoa.sim;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.LogAddress;
import stoa.base.StreamId;
import stoa.log.Sequencer.Answer;
import stoa.log.TransactionId;
import stoa.log.core.Command;
import stoa.log.core.CommitRecord;
import stoa.log.core.Coordinator;
import stoa.log.core.Layout;
import stoa.log.core.Layout.Copies;
import stoa.log.core.Shard;
import stoa.log.core.Slot;
import stoa.log.core.Slots;
import stoa.log.core.StreamEntry;
import stoa.log.core.Versions;

/// The stream store keeps its promises, and the checks find it when one of its rules is broken.
class StreamStoreTest {
  private static final StreamWorld.Trouble HEAVY = new StreamWorld.Trouble(50, 150, 15, 3, 0);

  @Test
  void everythingHappensOnceInOneOrderThroughAllTrouble() {
    SortedMap<String, Long> places = new TreeMap<>();
    for (var name :
        List.of(
            "stream-store",
            "stream-store-trouble",
            "stream-store-copies",
            "stream-store-rebuilt")) {
      for (long seed = 0; seed < 15; seed++) {
        SimulatedRun.require(Scenarios.named(name), seed)
            .places()
            .forEach((place, count) -> places.merge(place, count, Long::sum));
      }
    }
    for (var place :
        List.of(
            "a batch is found",
            "a batch is given up",
            "a hole is filled",
            "a shard is rebuilt",
            "a token is Refused",
            "a token is Settled",
            "a token is Wait",
            "a transaction is Aborted",
            "the log has Hole")) {
      assertTrue(places.containsKey(place), () -> place + " is not among " + places);
    }
  }

  @Test
  void runsOfOneSeedHaveEqualTraces() {
    var scenario = Scenarios.named("stream-store-rebuilt");
    assertEquals(SimulatedRun.require(scenario, 7), SimulatedRun.require(scenario, 7));
  }

  private static void assertFound(StreamRules broken) {
    assertFound(Copies.REFERENCE, HEAVY, 0, 300, broken);
  }

  /* What takes many seeds begins near one that finds it; with -Dstoa.sim.seeds=N, N more are tried
   * for where that is. */
  private static void assertFound(
      Copies copies, StreamWorld.Trouble trouble, int from, int to, StreamRules broken) {
    var scenario = new StreamScenario("mutant", copies, trouble, broken);
    int end = to + Integer.getInteger("stoa.sim.seeds", 0);
    for (int seed = from; seed < end; seed++) {
      if (SimulatedRun.of(scenario, seed) instanceof SimulatedRun.Failed failed) {
        if (failed.cause() instanceof AssertionError) return;
        throw new AssertionError("found by an accident: " + failed.line(), failed.cause());
      }
    }
    throw new AssertionError("no seed from " + from + " to " + end + " found it");
  }

  /// M1.
  @Test
  void lateAnswersOfShardsAreTaken() {
    assertFound(
        Copies.REFERENCE,
        new StreamWorld.Trouble(20, 250, 0, 0, 0),
        560,
        600,
        new StreamRules() {
          @Override
          boolean dropsOldAnswers() {
            return false;
          }
        });
  }

  /// M2.
  @Test
  void whatIsUnsettledIsForgotten() {
    assertFound(
        new StreamRules() {
          @Override
          boolean waitsForArbiters() {
            return false;
          }
        });
  }

  /// M3.
  @Test
  void aTransactionIsRefusedForAChangeThatMayNotComeAbout() {
    assertFound(
        new StreamRules() {
          @Override
          Answer answered(Answer answer) {
            return answer instanceof Answer.Wait(LogAddress winner)
                ? new Answer.Refused(StreamId.of("stream 0"), winner)
                : answer;
          }
        });
  }

  /// M4.
  @Test
  void aNewSequencerAnswersBeforeOlderEpochsAreDelivered() {
    assertFound(
        new StreamRules() {
          @Override
          boolean waitsForDeliveries() {
            return false;
          }
        });
  }

  /// M5.
  @Test
  void aSealedLogUnitTakesARecord() {
    assertFound(
        new StreamRules() {
          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            var applied = shard.apply(term, sequence, command);
            if (!(command instanceof Command.Put(CommitRecord record))
                || applied != Shard.Applied.OLD_EPOCH) {
              return applied;
            }
            shard.logUnit().copy(record);
            return Shard.Applied.DONE;
          }
        });
  }

  private static class SpoiltSlots implements Slots {
    private final Slots slots = Slots.inMemory();

    @Override
    public @Nullable Slot at(long counter) {
      return slots.at(counter);
    }

    @Override
    public void put(long counter, Slot slot) {
      slots.put(counter, slot);
    }

    @Override
    public void dropBelow(long counter) {
      slots.dropBelow(counter);
    }

    @Override
    public long next(long counter) {
      return slots.next(counter);
    }

    @Override
    public long last() {
      return slots.last();
    }
  }

  /// M6.
  @Test
  void aRecordOverwritesAHole() {
    assertFound(
        new StreamRules() {
          @Override
          Slots slots() {
            return new SpoiltSlots() {
              @Override
              public @Nullable Slot at(long counter) {
                Slot slot = super.at(counter);
                return slot != null && slot.isHole() ? null : slot;
              }
            };
          }
        });
  }

  /// M6.
  @Test
  void aHoleOverwritesARecord() {
    assertFound(
        new StreamRules() {
          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            if (command instanceof Command.Fill(var address, var issued)
                && address.epoch() == shard.epoch()) {
              for (var of : issued) {
                for (int i = 0; i < of.count(); i++) {
                  shard.streamUnit().take(StreamEntry.empty(of.stream(), of.first() + i, address));
                }
              }
            }
            return shard.apply(term, sequence, command);
          }
        });
  }

  /// M7.
  @Test
  void aRepeatedPartIsTakenAgain() {
    assertFound(
        new StreamRules() {
          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            if (command instanceof Command.Deliver(long _, Command.Take(CommitRecord part))) {
              var entry = part.entries().getFirst();
              var versions = shard.streamUnit().versions();
              if (versions.last(entry.stream()) >= entry.address()) {
                shard
                    .streamUnit()
                    .take(
                        new StreamEntry(
                            entry.stream(),
                            versions.last(entry.stream()) + 1,
                            entry.log(),
                            entry.sort(),
                            entry.payload()));
              }
            }
            return shard.apply(term, sequence, command);
          }
        });
  }

  /// M8.
  @Test
  void aLeaderOfAnOlderTermIsHeard() {
    assertFound(
        Copies.REFERENCE,
        new StreamWorld.Trouble(20, 20, 30, 0, 0),
        410,
        450,
        new StreamRules() {
          private final Map<Shard, Long> heard = new LinkedHashMap<>();

          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            long next = heard.merge(shard, 1L, Long::sum);
            return shard.apply(1, next, command);
          }
        });
  }

  /// M9.
  @Test
  void aReadDoesNotWaitForWhatWasIssued() {
    assertFound(
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            return message instanceof StreamMessage.CheckIs(long number, long _, long epoch)
                ? new StreamMessage.CheckIs(number, 0, epoch)
                : message;
          }
        });
  }

  private static StreamMessage with(
      StreamMessage.GrantTransaction request,
      TransactionId id,
      @Nullable LogAddress at,
      List<StreamId> reads) {
    var transaction = new Coordinator.Transaction(id, at, reads, request.transaction().writes());
    return new StreamMessage.GrantTransaction(
        request.from(), request.number(), transaction, request.demands());
  }

  /// M10.
  @Test
  void whatATransactionReadMayHaveChanged() {
    assertFound(
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            return message instanceof StreamMessage.GrantTransaction request
                ? with(request, request.transaction().id(), request.transaction().at(), List.of())
                : message;
          }
        });
  }

  /// M11.
  @Test
  void aRepeatGetsAnotherToken() {
    assertFound(
        new StreamRules() {
          private long number = 1000;

          @Override
          StreamMessage sent(StreamMessage message) {
            if (!(message instanceof StreamMessage.GrantTransaction request)) return message;
            var of = request.transaction();
            return with(request, new TransactionId(++number, 1), of.at(), of.reads());
          }
        });
  }

  /// M12.
  @Test
  void whereATransactionReadIsComparedByItsCounterAlone() {
    assertFound(
        Copies.REFERENCE,
        new StreamWorld.Trouble(100, 50, 15, 8, 0),
        0,
        300,
        new StreamRules() {
          private long epoch;

          @Override
          StreamMessage sent(StreamMessage message) {
            if (message instanceof StreamMessage.Seal seal) epoch = Math.max(epoch, seal.epoch());
            if (!(message instanceof StreamMessage.GrantTransaction request)) return message;
            var of = request.transaction();
            var at = of.at();
            return at == null
                ? message
                : with(request, of.id(), new LogAddress(epoch, at.counter()), of.reads());
          }
        });
  }

  /// M13.
  @Test
  void anEntryIsShownBeforeThoseBelowIt() {
    assertFound(
        new StreamRules() {
          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            var applied = shard.apply(term, sequence, command);
            shard.streamUnit().close();
            return applied;
          }
        });
  }

  /// M14.
  @Test
  void whatIsNotWrittenIsAcknowledged() {
    assertFound(
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            if (!(message instanceof StreamMessage.Written(long number, var written))) {
              return message;
            }
            return new StreamMessage.Written(
                number,
                written == Coordinator.Written.OLD_EPOCH ? Coordinator.Written.DELIVERED : written);
          }
        });
  }

  /// M15.
  @Test
  void partsAreSeenBeforeTheirCopyIsMade() {
    assertFound(
        Copies.FULL,
        new StreamWorld.Trouble(20, 20, 0, 1, 3),
        0,
        300,
        new StreamRules() {
          @Override
          Layout layout(Layout layout) {
            return new Layout(layout.shards(), Copies.REFERENCE);
          }
        });
  }

  /// M16.
  @Test
  void aStreamForgetsItsEnd() {
    assertFound(
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            return message instanceof StreamMessage.RowIs(var question, var row) && row.last() > 0
                ? new StreamMessage.RowIs(
                    question,
                    new stoa.log.core.StreamUnit.Row(row.last() - 1, row.log(), row.change()))
                : message;
          }
        });
  }

  /// M17.
  @Test
  void aSequencerKeepsItsWordWithoutItsLease() {
    assertFound(
        Copies.REFERENCE,
        new StreamWorld.Trouble(50, 50, 5, 6, 0),
        0,
        300,
        new StreamRules() {
          private @Nullable LogAddress first;

          @Override
          StreamMessage sent(StreamMessage message) {
            if (!(message instanceof StreamMessage.TailIs(long number, LogAddress tail))) {
              return message;
            }
            var old = first;
            if (old == null || tail.counter() > old.counter() + 3) first = tail;
            return old == null ? message : new StreamMessage.TailIs(number, old);
          }
        });
  }

  /// M18.
  @Test
  void aSessionIsTakenForANewOne() {
    assertFound(
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            return message instanceof StreamMessage.SessionIs(var question, var _, var _)
                ? new StreamMessage.SessionIs(question, stoa.log.Sequencer.Known.NOT_TAKEN, null)
                : message;
          }
        });
  }

  /// M20.
  @Test
  void anAcknowledgementForAShardThatWasLostCounts() {
    assertFound(
        Copies.FULL,
        new StreamWorld.Trouble(20, 60, 5, 1, 3),
        0,
        40,
        new StreamRules() {
          private long epoch;

          @Override
          StreamMessage sent(StreamMessage message) {
            if (message instanceof StreamMessage.Seal seal) epoch = Math.max(epoch, seal.epoch());
            return message instanceof StreamMessage.Acknowledge(long item, long _)
                ? new StreamMessage.Acknowledge(item, epoch)
                : message;
          }
        });
  }

  /// M21.
  @Test
  void aShardThatReplacesALostOneIsTakenForWhole() {
    assertFound(
        Copies.FULL,
        new StreamWorld.Trouble(20, 20, 5, 1, 3),
        0,
        100,
        new StreamRules() {
          @Override
          Shard.Applied apply(Shard shard, long term, long sequence, Command command) {
            return command instanceof Command.Replace(long epoch)
                ? shard.apply(term, sequence, new Command.Seal(epoch))
                : shard.apply(term, sequence, command);
          }
        });
  }

  /// M22.
  @Test
  void aRebuiltShardTakesItsSessionsForAllThatThereWere() {
    assertFound(
        Copies.FULL,
        new StreamWorld.Trouble(20, 20, 5, 1, 3),
        0,
        100,
        new StreamRules() {
          @Override
          StreamMessage sent(StreamMessage message) {
            return message instanceof StreamMessage.SessionIs(var question, var known, var _)
                    && known == stoa.log.Sequencer.Known.EXPIRED
                ? new StreamMessage.SessionIs(question, stoa.log.Sequencer.Known.NOT_TAKEN, null)
                : message;
          }
        });
  }

  /// M19.
  @Test
  void streamsLoseWhatIsAppended() {
    assertFound(
        new StreamRules() {
          @Override
          Versions versions(Versions watched) {
            return new Versions() {
              private int count;

              @Override
              public long last(StreamId stream) {
                return watched.last(stream);
              }

              @Override
              public long first(StreamId stream) {
                return watched.first(stream);
              }

              @Override
              public StreamEntry read(StreamId stream, long address) {
                return watched.read(stream, address);
              }

              @Override
              public void add(StreamEntry entry) {
                watched.add(
                    ++count % 7 == 0
                        ? StreamEntry.empty(entry.stream(), entry.address(), entry.log())
                        : entry);
              }

              @Override
              public void begin(StreamEntry entry) {
                watched.begin(entry);
              }

              @Override
              public void trim(StreamId stream, long before) {
                watched.trim(stream, before);
              }

              @Override
              public List<StreamId> streams() {
                return watched.streams();
              }
            };
          }
        });
  }
}
