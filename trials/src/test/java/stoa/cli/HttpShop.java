package stoa.cli;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.Accessor;
import stoa.Ref;
import stoa.Shared;
import stoa.Transactional;

/// Shared types whose methods have parameters and answers of all kinds.
final class HttpShop {
  private HttpShop() {}

  enum Color {
    RED,
    GREEN
  }

  record Money(BigDecimal amount, String currency) {
    Money {
      if (amount.signum() < 0) throw new IllegalArgumentException("the amount is negative");
    }
  }

  record Slot(String room, int hour) {}

  sealed interface Shape permits Circle, Group {}

  record Circle(double radius) implements Shape {}

  record Group(List<Shape> parts) implements Shape {}

  record Pair<A, B>(A first, B second) {}

  static class Overdrawn extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Overdrawn(String message) {
      super(message);
    }
  }

  @Shared(name = "shop.Account")
  static class Account {
    private long balance;
    private int withdrawals;

    public Account() {}

    public Account(long balance) {
      this.balance = balance;
    }

    public long deposit(long amount) {
      return balance += amount;
    }

    public void withdraw(long amount) {
      withdrawals++;
      if (amount > balance) throw new Overdrawn("there are only " + balance);
      balance -= amount;
    }

    @Accessor
    public long balance() {
      return balance;
    }

    @Accessor
    public int withdrawals() {
      return withdrawals;
    }
  }

  @Shared(name = "shop.Catalog")
  static class Catalog {
    private final Map<UUID, Money> prices = new TreeMap<>();
    private final Map<Slot, Color> slots = new LinkedHashMap<>();
    private @Nullable Account owner;

    public void price(UUID id, Money price) {
      prices.put(id, price);
    }

    @Accessor
    public Optional<Money> price(UUID id) {
      return Optional.ofNullable(prices.get(id));
    }

    @Accessor
    public Map<UUID, Money> prices() {
      return new TreeMap<>(prices);
    }

    public Map<Slot, Color> paint(Map<Slot, Color> more) {
      slots.putAll(more);
      return new LinkedHashMap<>(slots);
    }

    @Transactional
    public void transfer(Account from, Account to, long amount) {
      from.withdraw(amount);
      to.deposit(amount);
    }

    public void own(Account by) {
      owner = by;
    }

    @Accessor
    public @Nullable Account owner() {
      return owner;
    }

    @Accessor
    public Object echo(
        byte[] bytes, Instant time, int[] numbers, Set<Long> large, double ratio, char mark) {
      return new ArrayList<Object>(
          List.of(bytes, time, numbers, new ArrayList<>(large), ratio, mark, Color.RED));
    }

    @Accessor
    public Shape grown(Shape shape, double by) {
      return switch (shape) {
        case Circle circle -> new Circle(circle.radius() * by);
        case Group group -> new Group(group.parts().stream().map(one -> grown(one, by)).toList());
      };
    }

    @Accessor
    public Pair<String, List<Integer>> swapped(Pair<List<Integer>, String> pair) {
      return new Pair<>(pair.second(), pair.first());
    }

    @Accessor
    public Ref<Account> pointed(Ref<Account> ref) {
      return ref;
    }

    @Accessor
    public long matching(Predicate<UUID> filter) {
      return prices.keySet().stream().filter(filter).count();
    }
  }
}
