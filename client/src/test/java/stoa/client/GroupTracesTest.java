package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Trace;
import stoa.base.TraceParent;
import stoa.base.Tracer;
import stoa.front.SharedStoa;
import stoa.storage.disk.MemoryDisk;

/// The trace of a call goes on in the groups of the objects that its method calls.
class GroupTracesTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";

  /// A span that has ended.
  private record Span(String name, String id, String parent, Map<String, String> tags) {
    Span named(ConcurrentLinkedQueue<Span> all, String wanted) {
      return all.stream()
          .filter(one -> one.name.equals(wanted) && one.isBelow(this, all))
          .findFirst()
          .orElseThrow(() -> new AssertionError("no " + wanted + " below " + this + " in " + all));
    }

    private boolean isBelow(Span above, ConcurrentLinkedQueue<Span> all) {
      for (Span at = this; ; ) {
        String up = at.parent;
        if (up.equals(above.id)) return true;
        Span next = all.stream().filter(one -> one.id.equals(up)).findFirst().orElse(null);
        if (next == null) return false;
        at = next;
      }
    }
  }

  /// Keeps all spans that have ended, of the program and of the servers.
  private static final class Spans implements Tracer {
    private final ConcurrentLinkedQueue<Span> ended = new ConcurrentLinkedQueue<>();
    private final AtomicLong numbers = new AtomicLong();

    private Trace begin(String name, String parent) {
      String id = "%016x".formatted(numbers.incrementAndGet());
      var tags = new ConcurrentHashMap<String, String>();
      return new Trace() {
        @Override
        public TraceParent parent() {
          return new TraceParent(TRACE, id, true);
        }

        @Override
        public Trace child(String below) {
          return begin(below, id);
        }

        @Override
        public void tag(String tag, String value) {
          tags.put(tag, value);
        }

        @Override
        public void tag(String tag, long value) {
          tags.put(tag, Long.toString(value));
        }

        @Override
        public void event(String what) {
          tags.put(what, "event");
        }

        @Override
        public void fail(String why) {
          tags.put("failed", why);
        }

        @Override
        public void end(@Nullable Throwable failure) {
          if (failure != null) tags.put("failed", failure.toString());
          ended.add(new Span(name, id, parent, tags));
        }
      };
    }

    private List<Span> named(String name) {
      return ended.stream()
          .filter(one -> one.name.equals(name) || one.name.startsWith(name + "("))
          .toList();
    }

    private Span only(String name) {
      List<Span> found = named(name);
      assertEquals(1, found.size(), () -> name + " in " + ended);
      return found.getFirst();
    }

    @Override
    public boolean isRecording() {
      return true;
    }

    @Override
    public Trace program(String name) {
      Trace around = Trace.current();
      return begin(name, around == null ? "" : around.parent().span());
    }

    @Override
    public Trace served(TraceParent parent, String name) {
      return begin(name, parent.span());
    }

    @Override
    public Trace delivered(TraceParent parent, String name) {
      return begin(name, parent.span());
    }

    @Override
    public boolean showsKeys() {
      return false;
    }
  }

  /// An account.
  @Shared(name = "traced.Account")
  static class Account {
    private long balance;

    public long add(long amount) {
      return balance += amount;
    }

    public long pay(Account other, long amount) {
      balance -= amount;
      return other.add(amount);
    }
  }

  /// Pays from one group to the other.
  private interface Paying {
    long pay(Stoa stoa, Account payer, Account paid);
  }

  /// Returns what a payment of 7 to an account that has 1 records.
  private static Spans traced(Paying paying) {
    var disks = List.of(new MemoryDisk(64 << 20), new MemoryDisk(64 << 20));
    var spans = new Spans();
    try (var groups = new Groups(StoaConfig.of("memory:"), disks, 1)) {
      groups.trace(spans);
      try (Stoa stoa = Stoa.open(groups.url())) {
        Account payer = account(groups, stoa, 0);
        Account paid = account(groups, stoa, 1);
        paid.add(1);
        ((SharedStoa) stoa).trace(spans);
        assertEquals(8, paying.pay(stoa, payer, paid));
      }
    }
    return spans;
  }

  @Test
  void theCallOfAMethodIsRecordedInTheOtherGroup() {
    Spans spans = traced((_, payer, paid) -> payer.pay(paid, 7));
    Span call =
        spans.ended.stream()
            .filter(one -> one.name.startsWith("traced.Account/pay") && one.parent.isEmpty())
            .findFirst()
            .orElseThrow();
    Span nested = call.named(spans.ended, "traced.Account/add(long)");
    Span visit = nested.named(spans.ended, "stoa.visit");
    assertEquals("1", visit.tags.get("stoa.group"));
    assertEquals("traced.Account", visit.tags.get("stoa.type"));
    // In the other group, too, the trace tells where the call is.
    for (String stage : List.of("stoa.queue", "stoa.batch", "stoa.execute")) {
      assertEquals(visit.id, visit.named(spans.ended, stage).parent);
    }
  }

  @Test
  void aTransactionOverGroupsIsOneTrace() {
    Spans spans = traced((stoa, payer, paid) -> stoa.transact(() -> payer.pay(paid, 7)));
    Span whole = spans.only("transaction");
    Span attempt = spans.only("attempt");
    Span pay = spans.only("traced.Account/pay");
    Span commit = spans.only("commit");
    assertEquals("", whole.parent);
    assertEquals(whole.id, attempt.parent);
    assertEquals(List.of(attempt.id, attempt.id), List.of(pay.parent, commit.parent));
    // The client makes the nested call in the other group for the method, and runs the method anew.
    var groups = new TreeSet<String>();
    for (Span call : spans.named("stoa.call")) {
      assertEquals(pay.id, call.parent);
      groups.add(String.valueOf(call.tags.get("stoa.group")));
    }
    assertEquals(Set.of("0", "1"), groups);
    for (Span nested : spans.named("traced.Account/add")) {
      Span in =
          spans.ended.stream().filter(one -> one.id.equals(nested.parent)).findAny().orElseThrow();
      assertEquals("0 stoa.call", in.tags.get("stoa.group") + " " + in.name);
    }
    Span home = spans.only("stoa.commit_across");
    assertEquals(commit.id, home.parent);
    assertEquals("0", home.tags.get("stoa.group"));
  }

  private static Account account(Groups groups, Stoa stoa, int group) {
    int number = 0;
    while (groups.group(Account.class, "a" + number) != group) number++;
    return stoa.get(Account.class, "a" + number);
  }
}
