package stoa.bench.code;

import stoa.Accessor;
import stoa.Shared;

/// A sum, of which the versions multiply what is added by different factors.
@Shared(name = "bench.Ledger")
class Ledger {
  private long sum;

  public long add(long amount) {
    sum += amount * factor();
    return sum;
  }

  @Accessor
  public long sum() {
    return sum;
  }

  private static int factor() {
    return 1;
  }
}
