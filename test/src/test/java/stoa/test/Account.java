package stoa.test;

import java.time.Instant;
import stoa.Accessor;
import stoa.Call;
import stoa.Shared;

/// A right class.
@Shared(name = "test.Account")
public class Account {
  private long balance;
  private Instant last = Instant.EPOCH;

  public long deposit(long amount) {
    balance += amount;
    last = Call.now();
    return balance;
  }

  public void withdraw(long amount) {
    if (amount > balance) throw new IllegalArgumentException("only " + balance);
    balance -= amount;
  }

  @Accessor
  public long balance() {
    return balance;
  }

  @Accessor
  public Instant last() {
    return last;
  }
}
