package stoa.bench.tx;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import stoa.Stoa;
import stoa.bench.load.Counter;

/// Transactions over shared objects of a store in a directory.
final class StoaTransactions implements TransactionContender {
  static final String NAME = "Stoa";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String how() {
    return "calls on shared objects, one log address for all, shared sync of the log";
  }

  @Override
  public Opened open(Path folder, int objects) {
    return new Opened(Stoa.open("file:" + folder), objects);
  }

  /// The open store, which takes single calls, too.
  static final class Opened implements Store {
    private final Stoa stoa;
    private final List<Counter> counters;

    private Opened(Stoa stoa, int objects) {
      this.stoa = stoa;
      counters =
          IntStream.range(0, objects)
              .mapToObj(i -> stoa.get(Counter.class, "account " + i))
              .toList();
    }

    @Override
    public void addOne(int[] objects) {
      stoa.transact(() -> {
        long last = 0;
        for (int object : objects) last = counters.get(object).add(1);
        return last;
      });
    }

    /// Makes the same change with a call on one object, without a transaction.
    void call(int object) {
      var _ = counters.get(object).add(1);
    }

    @Override
    public long sum() {
      return counters.stream().mapToLong(Counter::value).sum();
    }

    @Override
    public void close() {
      stoa.close();
    }
  }
}
