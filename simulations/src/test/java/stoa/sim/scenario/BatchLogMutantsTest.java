package stoa.sim.scenario;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import stoa.log.Batch;
import stoa.log.BatchLog;
import stoa.log.BatchOutcome;
import stoa.log.ForwardingBatchLog;
import stoa.log.Streams;
import stoa.sim.world.PoweredDisk;
import stoa.sim.world.PoweredLocalLog;
import stoa.sim.world.PoweredLog;
import stoa.storage.disk.DeviceConfig;
import stoa.storage.disk.Disk;
import stoa.storage.disk.MemoryDisk;

/// Logs that break the contract in one way each: every one must be found out.
class BatchLogMutantsTest {
  private static final DeviceConfig SMALL = new DeviceConfig(128 << 10, 8 << 10, 8 << 10, 8 << 10);

  /// A local log in memory that a mutant may spoil.
  private static class Mutant implements PoweredLog {
    private final PoweredLocalLog powered;

    Mutant(PoweredDisk disk) {
      powered = new PoweredLocalLog(disk, SMALL);
    }

    Mutant() {
      this(PoweredDisk.memory(64 << 20));
    }

    void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
      log.append(batch, done);
    }

    void seal(BatchLog log, long epoch) {
      log.seal(epoch);
    }

    @Override
    public BatchLog leader() {
      var log = powered.leader();
      return new ForwardingBatchLog(log) {
        @Override
        public void append(Batch batch, Consumer<BatchOutcome> done) {
          Mutant.this.append(log, batch, done);
        }

        @Override
        public void seal(long epoch) {
          Mutant.this.seal(log, epoch);
        }
      };
    }

    @Override
    public boolean step() {
      return powered.step();
    }

    @Override
    public void restart() {
      powered.restart();
    }

    @Override
    public List<Streams> replicas() {
      return powered.replicas();
    }

    @Override
    public void calm() {
      powered.calm();
    }

    @Override
    public void close() {
      powered.close();
    }
  }

  private static Batch with(Batch batch, long term, long sequence) {
    return new Batch(batch.token(), term, sequence, batch.nowMicros(), batch.entries());
  }

  private static void assertFoundByTheContract(Supplier<PoweredLog> mutant) {
    int found = 0;
    for (var demand : BatchLogContract.cases()) {
      try (var log = mutant.get()) {
        demand.body().run(log);
      } catch (AssertionError | RuntimeException e) {
        found++;
      }
    }
    assertTrue(found > 0, "no case of the contract found it");
  }

  private static void assertFoundBySeeds(Supplier<PoweredLog> mutant) {
    var scenario = new BatchLogScenario("mutant", _ -> mutant.get());
    int found = 0;
    for (int seed = 0; seed < 20; seed++) {
      if (SimulatedRun.of(scenario, seed) instanceof SimulatedRun.Failed) found++;
    }
    assertTrue(found > 0, "no seed found it");
  }

  private static void assertFound(Supplier<PoweredLog> mutant) {
    assertFoundByTheContract(mutant);
    assertFoundBySeeds(mutant);
  }

  @Test
  void aLogThatForgetsOverARestart() {
    assertFound(() ->
        new Mutant(
            new PoweredDisk() {
              private Disk disk = new MemoryDisk(64 << 20);

              @Override
              public Disk disk() {
                return disk;
              }

              @Override
              public void fail() {
                disk = new MemoryDisk(64 << 20);
              }
            }));
  }

  @Test
  void aDiskThatDoesNotSync() {
    var seeds = new AtomicLong();
    assertFound(() -> new Mutant(LyingDisk.powered(seeds.incrementAndGet())));
  }

  @Test
  void aLogThatExecutesRepeats() {
    assertFound(() ->
        new Mutant() {
          @Override
          void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
            long next = log.tail().sequence() + 1;
            super.append(log, with(batch, batch.term(), next), done);
          }
        });
  }

  @Test
  void aLogThatTakesBatchesOfOlderTerms() {
    assertFoundByTheContract(() ->
        new Mutant() {
          @Override
          void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
            long term = Math.max(batch.term(), log.tail().term());
            long next =
                batch.term() < log.tail().term() ? log.tail().sequence() + 1 : batch.sequence();
            super.append(log, with(batch, term, next), done);
          }
        });
  }

  @Test
  void aLogThatIgnoresSeals() {
    assertFound(() ->
        new Mutant() {
          @Override
          void seal(BatchLog log, long epoch) {
            if (log.tail().epoch() == 0) super.seal(log, epoch);
          }
        });
  }

  @Test
  void aLogThatCommitsWhatItDidNotWrite() {
    assertFound(() ->
        new Mutant() {
          private int count;

          @Override
          void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
            if (++count % 3 == 0) done.accept(new BatchOutcome.Committed());
            else super.append(log, batch, done);
          }
        });
  }

  @Test
  void aLogThatWritesABatchInHalves() {
    assertFound(() ->
        new Mutant() {
          @Override
          void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
            var entries = batch.entries();
            var half = new ArrayList<>(entries.subList(0, (entries.size() + 1) / 2));
            super.append(
                log,
                new Batch(batch.token(), batch.term(), batch.sequence(), batch.nowMicros(), half),
                done);
          }
        });
  }

  @Test
  void aLogThatSaysRefusedAfterWriting() {
    assertFoundBySeeds(() ->
        new Mutant() {
          private int count;

          @Override
          void append(BatchLog log, Batch batch, Consumer<BatchOutcome> done) {
            boolean lie = ++count % 5 == 0;
            super.append(
                log,
                batch,
                outcome ->
                    done.accept(
                        lie && outcome instanceof BatchOutcome.Committed
                            ? new BatchOutcome.Refused(new IllegalStateException("no room"))
                            : outcome));
          }
        });
  }
}
