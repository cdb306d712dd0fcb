package stoa.sim.check;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.sim.check.Serializability.Anomaly;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import stoa.sim.Chance;

class SerializabilityTest {
  private final TransactionHistory history = new TransactionHistory();

  private Set<Anomaly> anomalies() {
    return Serializability.check(history.transactions()).stream()
        .map(Serializability.Violation::anomaly)
        .collect(Collectors.toCollection(() -> EnumSet.noneOf(Anomaly.class)));
  }

  private void assertFound(Anomaly... expected) {
    var violations = Serializability.check(history.transactions());
    assertEquals(EnumSet.copyOf(List.of(expected)), anomalies(), violations::toString);
    assertThrows(AssertionError.class, () -> Serializability.require(history.transactions()));
  }

  private void assertWell() {
    Serializability.require(history.transactions());
  }

  /* A transaction that nobody overlaps. */
  private void alone(String name, Object... actions) {
    var open = history.begin(name);
    does(open, actions);
    open.committed();
  }

  /* x+1 appends 1 to x; x=12 reads 1 and 2 in x; elements have one character. */
  private static void does(TransactionHistory.Open open, Object... actions) {
    for (Object action : actions) {
      String text = action.toString();
      String key = text.substring(0, 1);
      String rest = text.substring(2);
      if (text.charAt(1) == '+') open.append(key, rest);
      else open.read(key, rest.isEmpty() ? List.of() : List.of(rest.split("")));
    }
  }

  private TransactionHistory.Open under(String name, Object... actions) {
    var open = history.begin(name);
    does(open, actions);
    return open;
  }

  /* Transactions that overlap all, and are committed. */
  private void together(Object[]... transactions) {
    var open = new ArrayList<TransactionHistory.Open>();
    for (int i = 0; i < transactions.length; i++) open.add(history.begin("T" + (i + 1)));
    for (int i = 0; i < transactions.length; i++) does(open.get(i), transactions[i]);
    open.forEach(TransactionHistory.Open::committed);
  }

  private static Object[] t(Object... actions) {
    return actions;
  }

  @Test
  void anEmptyHistoryIsWell() {
    assertWell();
  }

  @Test
  void whatHappensOneAfterAnotherIsWell() {
    alone("a", "x=", "x+1", "x=1", "y+1");
    alone("b", "x=1", "x+2", "x+3", "x=123");
    alone("c", "x=123", "y=1");
    assertWell();
  }

  @Test
  void whatOverlapsMayHappenInAnyOrder() {
    together(t("x=2", "x+1"), t("x=", "x+2"), t("x=2", "y="));
    alone("after", "x=21");
    assertWell();
  }

  @Test
  void findsInterleavedWrites() {
    together(t("x+1", "y+1"), t("x+2", "y+2"), t("x=12", "y=21"));
    assertFound(Anomaly.G0);
  }

  @Test
  void findsWhatAnAbortedTransactionWrote() {
    var aborted = under("aborted", "x+1");
    alone("reader", "x=1");
    aborted.aborted();
    assertFound(Anomaly.G1A);
  }

  @Test
  void findsAStateWithinATransaction() {
    together(t("x+1", "x+2"), t("x=1"), t("x=12"));
    assertTrue(anomalies().contains(Anomaly.G1B), () -> anomalies().toString());
  }

  @Test
  void findsCircularInformationFlow() {
    together(t("x+1", "y=2"), t("y+2", "x=1"));
    assertFound(Anomaly.G1C);
  }

  @Test
  void findsAReadSkew() {
    together(t("x+1", "y+1"), t("x=", "y=1"), t("x=1", "y=1"));
    assertFound(Anomaly.G_SINGLE);
  }

  @Test
  void findsALostUpdate() {
    together(t("x=", "x+1"), t("x=", "x+2"));
    alone("after", "x=12");
    assertFound(Anomaly.G_SINGLE);
  }

  @Test
  void findsTwoUpdatesThatDidNotSeeEachOtherThoughNobodyReadsThem() {
    together(t("x=", "x+1"), t("x=", "x+2"));
    assertFound(Anomaly.G2);
  }

  @Test
  void findsAWriteSkew() {
    together(t("x=", "y+1"), t("y=", "x+1"));
    alone("after", "x=1", "y=1");
    assertFound(Anomaly.G2);
  }

  @Test
  void findsAWriteSkewOfThree() {
    together(t("x=", "y+1"), t("y=", "z+1"), t("z=", "x+1"));
    assertFound(Anomaly.G2);
  }

  @Test
  void findsAReadOfThePast() {
    alone("writer", "x+1");
    alone("reader", "x=");
    alone("later", "x=1");
    assertFound(Anomaly.REAL_TIME);
  }

  @Test
  void findsAReadOfTheFuture() {
    // The reader ends before the writer begins.
    alone("reader", "x=1");
    alone("writer", "x+1");
    assertFound(Anomaly.REAL_TIME);
  }

  @Test
  void findsThatTwoReadersSeeTwoWritersInDifferentOrders() {
    together(t("x+1"), t("y+1"), t("x=1", "y="), t("x=", "y=1"));
    assertFound(Anomaly.G2);
  }

  @Test
  void findsALostAppend() {
    alone("writer", "x+1");
    alone("reader", "x=");
    assertTrue(anomalies().contains(Anomaly.LOST), () -> anomalies().toString());
  }

  @Test
  void findsADuplicateAppend() {
    alone("writer", "x+1");
    alone("reader", "x=11");
    assertFound(Anomaly.DUPLICATE);
  }

  @Test
  void findsListsThatDoNotFitTogether() {
    together(t("x+1"), t("x+2"), t("x=12"), t("x=21"));
    assertFound(Anomaly.INCOMPATIBLE);
  }

  @Test
  void findsAnElementThatNobodyAppended() {
    alone("reader", "x=7");
    assertFound(Anomaly.FOREIGN);
  }

  @Test
  void findsThatATransactionDoesNotSeeItsOwnWrites() {
    alone("a", "x+1", "x=");
    assertTrue(anomalies().contains(Anomaly.INTERNAL), () -> anomalies().toString());
  }

  @Test
  void findsThatATransactionSeesAListInTwoStates() {
    together(t("x+1"), t("x=", "x=1"));
    assertTrue(anomalies().contains(Anomaly.INTERNAL), () -> anomalies().toString());
  }

  @Test
  void findsThatADoomedTransactionSawAStateThatNeverWas() {
    var doomed = under("doomed", "x=", "y=1", "z+1");
    alone("writer", "x+1", "y+1");
    doomed.aborted();
    alone("after", "x=1", "y=1", "z=");
    assertFound(Anomaly.G_SINGLE);
  }

  @Test
  void aDoomedTransactionThatSawAnOldStateIsWell() {
    var doomed = under("doomed", "x=", "y=", "z+1");
    alone("writer", "x+1", "y+1");
    doomed.aborted();
    alone("after", "x=1", "y=1", "z=");
    assertWell();
  }

  @Test
  void whatIsUnknownMayHaveHappenedOrNot() {
    var lost = under("lost", "x=", "x+1");
    lost.lost();
    under("never answered", "y+1");
    alone("after", "x=", "y=");
    assertWell();
    alone("later", "y=1", "x=");
    assertWell();
  }

  @Test
  void whatIsUnknownHappenedAsAWhole() {
    under("lost", "x+1", "y+1").lost();
    alone("after", "x=1", "y=");
    assertFound(Anomaly.G_SINGLE, Anomaly.LOST);
  }

  @Test
  void whatIsLostCannotHappenLater() {
    under("lost", "x+1").lost();
    alone("after", "x=");
    alone("later", "x=1");
    assertFound(Anomaly.REAL_TIME);
  }

  @Test
  void aCircleIsShownWithWhatItsTransactionsDid() {
    together(t("x=", "y+1"), t("y=", "x+1"));
    String text = Serializability.check(history.transactions()).getFirst().toString();
    assertTrue(text.startsWith("G2: a circle\n    T1 COMMITTED [x=[], y+1]"), text);
    assertTrue(text.contains("did not see T2, in x\n    T2 COMMITTED [y=[], x+1]"), text);
    assertTrue(text.endsWith("did not see T1, in y"), text);
  }

  @Test
  void aCheckThatGivesUpHasFailed() {
    together(t("x=", "y+1"), t("y=", "x+1"));
    var violations = Serializability.check(history.transactions(), 1);
    assertTrue(
        violations.stream().anyMatch(one -> one.anomaly() == Anomaly.UNDECIDED),
        violations::toString);
  }

  @Test
  void refusesAnElementThatIsUsedTwice() {
    alone("a", "x+1");
    alone("b", "x+1");
    assertThrows(
        IllegalArgumentException.class, () -> Serializability.check(history.transactions()));
  }

  @Test
  void anEndedTransactionTakesNoMore() {
    var open = history.begin("a");
    open.committed();
    assertThrows(IllegalStateException.class, () -> open.append("x", "1"));
    assertThrows(IllegalStateException.class, open::aborted);
  }

  // ---- random histories

  /* What a transaction reads, when it is executed at a moment between its beginning and its end. */
  private static final class Executor {
    private final Chance chance;
    private final TransactionHistory history = new TransactionHistory();
    private final Map<String, List<String>> lists = new HashMap<>();
    private final Map<String, List<String>> before = new HashMap<>();
    private final List<TransactionHistory.Open> begun = new ArrayList<>();
    private final List<Runnable> ends = new ArrayList<>();
    private int elements;

    Executor(long seed) {
      chance = new Chance(seed);
    }

    /* One that is executed wrongly reads from an older state. */
    List<TransactionHistory.Recorded> run(int steps, int staleAt) {
      for (int i = 0; i < steps; i++) {
        int dice = chance.below(3);
        if (dice == 0 || (begun.isEmpty() && ends.isEmpty())) begun.add(history.begin("T" + i));
        else if (dice == 1 && !begun.isEmpty()) {
          execute(begun.remove(chance.below(begun.size())), i >= staleAt);
        } else if (!ends.isEmpty()) {
          ends.remove(chance.below(ends.size())).run();
        }
      }
      return history.transactions();
    }

    private void execute(TransactionHistory.Open open, boolean stale) {
      boolean aborts = chance.percent(10);
      Map<String, List<String>> own = new HashMap<>();
      (stale ? before : lists).forEach((key, list) -> own.put(key, new ArrayList<>(list)));
      if (!stale) {
        before.clear();
        before.putAll(own);
        before.replaceAll((_, list) -> List.copyOf(list));
      }
      var appended = new ArrayList<TransactionHistory.Action.Append>();
      for (int i = chance.between(1, 4); i > 0; i--) {
        String key = "k" + chance.below(4);
        var list = own.computeIfAbsent(key, _ -> new ArrayList<>());
        if (chance.percent(50)) {
          open.read(key, list);
        } else {
          String element = "e" + elements++;
          open.append(key, element);
          list.add(element);
          appended.add(new TransactionHistory.Action.Append(key, element));
        }
      }
      if (aborts) {
        ends.add(open::aborted);
        return;
      }
      for (var one : appended) {
        lists.computeIfAbsent(one.key(), _ -> new ArrayList<>()).add(one.element());
      }
      ends.add(chance.percent(10) ? open::lost : open::committed);
    }
  }

  @Test
  void whatASerialExecutorDidIsWell() {
    for (int seed = 0; seed < 300; seed++) {
      Serializability.require(new Executor(seed).run(150, Integer.MAX_VALUE));
    }
  }

  @Test
  void manyTransactionsAreCheckedInAShortTime() {
    // Ten thousand transactions within a hundred steps each.
    var transactions = new Executor(1).run(30_000, Integer.MAX_VALUE);
    assertEquals(List.of(), Serializability.check(transactions, 100L * transactions.size()));
  }

  @Test
  void findsThatAnExecutorReadsOldStates() {
    int found = 0;
    for (int seed = 0; seed < 100; seed++) {
      if (!Serializability.check(new Executor(seed).run(150, 75)).isEmpty()) found++;
    }
    assertTrue(found > 90, "found in " + found + " of 100");
  }
}
