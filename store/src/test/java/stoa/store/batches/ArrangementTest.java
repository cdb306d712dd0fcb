package stoa.store.batches;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.Footprint;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.store.records.Draft;
import stoa.store.records.Records;
import stoa.store.records.StreamEnd;

/// The commits of a batch come in an order in which few conflict.
class ArrangementTest {
  private static final class End extends StreamEnd {
    private End() {
      super(Key.of("test", "map"));
    }

    @Override
    public long advanceSettled() {
      return nextTail;
    }

    @Override
    public long lastChange() {
      return nextChange;
    }
  }

  private static final End MAP = new End();

  private record Change(End end, Footprint footprint) implements Draft.Change {
    @Override
    public byte @Nullable [] value() {
      return new byte[0];
    }

    @Override
    public int code() {
      return 1;
    }

    @Override
    public Records.Origin origin() {
      return new Records.Origin(new StreamId(1, 1), 0, 1);
    }

    @Override
    public boolean begins() {
      return false;
    }

    @Override
    public byte @Nullable [] opening() {
      return null;
    }

    @Override
    public boolean isCopied() {
      return false;
    }

    @Override
    public boolean isAddressed() {
      return false;
    }

    @Override
    public long tail() {
      return 0;
    }

    @Override
    public List<Draft.Answered> answers() {
      return List.of();
    }

    @Override
    public void placed(long address, long micros) {}
  }

  /// A transaction on parts of a map.
  private record Transaction(End end, Set<Footprint> reads, Set<Footprint> writes)
      implements Draft.Changes {
    private Transaction(Set<Footprint> reads, Set<Footprint> writes) {
      this(MAP, reads, writes);
    }

    @Override
    public long counter() {
      return 0;
    }

    @Override
    public long nowMicros() {
      return 0;
    }

    @Override
    public Collection<StreamEnd> touched() {
      return List.of(end);
    }

    @Override
    public Collection<Footprint> footprints(StreamEnd used) {
      var all = new HashSet<>(reads);
      all.addAll(writes);
      return all;
    }

    @Override
    public List<Change> changes() {
      return writes.stream().map(part -> new Change(end, part)).toList();
    }

    @Override
    public RuntimeException aborted(StreamEnd changed, long counter) {
      return new IllegalStateException();
    }

    @Override
    public @Nullable RuntimeException refusal() {
      return null;
    }
  }

  private static Footprint part(int number) {
    return new Footprint(true, number, false, 1);
  }

  private static Set<Footprint> parts(int... numbers) {
    var parts = new HashSet<Footprint>();
    for (int number : numbers) parts.add(part(number));
    return parts;
  }

  @Test
  void whoReadsComesBeforeWhoWrites() {
    var writes = new Transaction(parts(), parts(1));
    var reads = new Transaction(parts(1), parts(2));
    var readsThat = new Transaction(parts(2), parts(3));
    assertArrayEquals(new int[] {2, 1, 0}, Arrangement.order(List.of(writes, reads, readsThat)));
    var all = new Transaction(Set.of(Footprint.ALL), parts(9));
    assertArrayEquals(new int[] {1, 0}, Arrangement.order(List.of(writes, all)));
  }

  @Test
  void theOrderOfTheArrivalStaysWhereNothingIsGained() {
    var one = new Transaction(parts(1), parts(1));
    var two = new Transaction(parts(2), parts(2));
    assertEquals(0, Arrangement.order(List.of(one, two)).length);
    assertEquals(0, Arrangement.order(List.of(two, new Transaction(parts(), parts(1)))).length);
    var adds = new Transaction(Set.of(), Set.of(new Footprint(true, 1, true, 1)));
    assertEquals(0, Arrangement.order(List.of(adds, adds)).length);
    var many = IntStream.range(0, 600).mapToObj(_ -> one).toList();
    assertEquals(0, Arrangement.order(many).length);
  }

  @Test
  void moreCommitThanInTheOrderOfTheArrival() {
    int before = 0;
    int after = 0;
    for (int seed = 0; seed < 200; seed++) {
      var random = new SplittableRandom(seed);
      var commits = new ArrayList<Transaction>();
      for (int i = 0; i < 16; i++) {
        commits.add(
            new Transaction(
                parts(random.nextInt(50), random.nextInt(50)), parts(random.nextInt(50))));
      }
      int[] order = Arrangement.order(commits);
      if (order.length == 0) order = IntStream.range(0, 16).toArray();
      assertEquals(
          new TreeSet<>(IntStream.range(0, 16).boxed().toList()),
          new TreeSet<>(Arrays.stream(order).boxed().toList()));
      before += committed(commits.stream());
      after += committed(Arrays.stream(order).mapToObj(commits::get));
    }
    assertTrue(after > before + 100, before + " of 3,200 before, and " + after);
  }

  private static Transaction of(End end, boolean changes) {
    return new Transaction(end, Set.of(), changes ? Set.of(Footprint.ALL) : Set.of());
  }

  /// Which transactions have met is what a comparison of all pairs finds, batch after batch.
  @Test
  void transactionsMeetAtAKeyThatOneOfThemChanges() {
    var random = new SplittableRandom(5);
    var arrangement = new Arrangement();
    var ends = Stream.generate(End::new).limit(12).toList();
    int met = 0;
    for (int batch = 0; batch < 2_000; batch++) {
      var commits = new ArrayList<Transaction>();
      for (int i = 0; i < 2 + random.nextInt(6); i++) {
        commits.add(of(ends.get(random.nextInt(12)), random.nextInt(3) > 0));
      }
      boolean meet = false;
      for (int one = 0; one < commits.size(); one++) {
        for (int other = 0; other < commits.size(); other++) {
          boolean both = one != other && commits.get(one).end.equals(commits.get(other).end);
          meet |= both && !commits.get(one).writes.isEmpty();
        }
      }
      assertEquals(meet, arrangement.meet(commits), commits::toString);
      if (meet) met++;
    }
    assertTrue(met > 300 && met < 1_700, "met in " + met + " of 2,000 batches");
  }

  private static int committed(Stream<Transaction> commits) {
    var written = new HashSet<Footprint>();
    int committed = 0;
    for (Transaction one : commits.toList()) {
      if (one.footprints(MAP).stream().anyMatch(written::contains)) continue;
      written.addAll(one.writes);
      committed++;
    }
    return committed;
  }
}
