package stoa.bench.indexes;

import stoa.Accessor;
import stoa.Index;
import stoa.Shared;

/// The classes of the benchmark: equal but for their indexes.
final class Sheets {
  private Sheets() {}

  /// The method of all of them.
  interface Sheet {
    /// Sets all values to one that follows from a number.
    void write(long number);
  }

  /// A class without an index.
  @Shared(name = "stoa.bench.indexes.Plain")
  static class Plain implements Sheet {
    private long number;
    private String owner = "";
    private long weight;

    @Override
    public void write(long to) {
      number = to;
      owner = "owner " + to;
      weight = -to;
    }

    /// Returns everything.
    @Accessor
    public String shown() {
      return number + owner + weight;
    }
  }

  /// A class with one index.
  @Shared(name = "stoa.bench.indexes.Single")
  static class Single implements Sheet {
    private long number;
    @Index private String owner = "";
    private long weight;

    @Override
    public void write(long to) {
      number = to;
      owner = "owner " + to;
      weight = -to;
    }

    /// Returns the value with the index.
    @Accessor
    public String owner() {
      return owner;
    }

    /// Returns true for one object of a hundred: a predicate.
    @Accessor
    public boolean isRare() {
      return (number + weight) % 100 == 0 && number % 100 == 0;
    }
  }

  /// A class with three indexes.
  @Shared(name = "stoa.bench.indexes.Triple")
  static class Triple implements Sheet {
    @Index private long number;
    @Index private String owner = "";
    @Index private long weight;
    private long touched;

    @Override
    public void write(long to) {
      number = to;
      owner = "owner " + to;
      weight = -to;
    }

    /// Changes a value without an index.
    public void touch() {
      touched++;
    }

    /// Returns everything.
    @Accessor
    public String shown() {
      return number + owner + weight + touched;
    }
  }
}
