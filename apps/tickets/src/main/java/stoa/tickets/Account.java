package stoa.tickets;

import stoa.Accessor;
import stoa.Shared;

/// The money of a customer, whose name is the key.
@Shared(name = "tickets.Account")
public class Account {
  private long cents;

  /// Adds money, and returns how much there is then.
  public long deposit(long amountCents) {
    if (amountCents <= 0) {
      throw new IllegalArgumentException("a deposit of " + amountCents + " cents; give some money");
    }
    cents = Math.addExact(cents, amountCents);
    return cents;
  }

  /// Takes money, and returns how much is left.
  public long pay(long amountCents) {
    if (amountCents > cents) {
      throw new Refused.TooExpensive("it costs " + amountCents + " cents, and there are " + cents);
    }
    cents -= amountCents;
    return cents;
  }

  /// How much there is.
  @Accessor
  public long cents() {
    return cents;
  }
}
