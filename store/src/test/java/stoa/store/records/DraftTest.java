package stoa.store.records;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import stoa.base.Existence;
import stoa.base.Key;
import stoa.base.StreamId;
import stoa.log.Entry;

/// What a batch logs of each request, and what it refuses.
class DraftTest {
  private static final byte[] VALUE = {1};
  private static final byte[] OPENING = {2};
  private static final Records.Origin ORIGIN =
      new Records.Origin(Key.of("test", "caller").stream(), 1, 1);
  private static final Map<Byte, String> KINDS =
      Map.of(
          Records.PUT, "put",
          Records.DELETE, "delete",
          Records.LISTED, "listed",
          Records.UNLISTED, "unlisted",
          Records.VERDICT, "verdict",
          Records.REFUSED, "refused",
          Records.ANSWERED, "answered",
          Records.DATA, "data");

  private final Map<StreamId, String> names = new HashMap<>();
  private final End directory = end("directory");
  private final Draft draft = new Draft(space -> directory);

  DraftTest() {
    draft.begin(2, 10, 1_000);
  }

  /// A stream whose end a test sets.
  private static final class End extends StreamEnd {
    private End(Key key) {
      super(key);
    }

    @Override
    public long advanceSettled() {
      return nextTail;
    }

    @Override
    public long lastChange() {
      return Math.max(0, nextChange);
    }
  }

  private End end(String name) {
    var end = new End(Key.of("test", name));
    names.put(end.key.stream(), name);
    return end;
  }

  /// A key in one of the states that a put can find: it is absent, its generation began at address
  /// 3 of 5, or that generation has ended.
  private End key(String state) {
    End end = end("key");
    end.nextTail = state.equals("absent") ? 0 : 5;
    end.everDeleted = state.equals("deleted");
    if (state.equals("alive")) end.nextGeneration = 3;
    end.nextListed = end.nextGeneration == 0 ? 0 : 1;
    return end;
  }

  private static Existence existence(String expected) {
    return switch (expected) {
      case "any" -> new Existence.Any(OPENING);
      case "undeleted" -> new Existence.Undeleted(OPENING);
      case "absent" -> new Existence.Absent(OPENING);
      default ->
          new Existence.Generation(Integer.parseInt(expected.substring(expected.indexOf(' ') + 1)));
    };
  }

  /// What is logged: kind, stream, stream address and log counter of each entry.
  private String logged() {
    var lines = new ArrayList<String>();
    for (Entry entry : draft.entries()) {
      String kind = KINDS.get(entry.kind());
      String at = names.get(entry.stream()) + " " + entry.address();
      lines.add(kind + " " + at + " @" + (11 + entry.offset()));
    }
    return String.join(", ", lines);
  }

  private String outcome(@Nullable RuntimeException refusal) {
    String entries = logged();
    if (refusal == null) return entries;
    return refusal.getClass().getSimpleName() + (entries.isEmpty() ? "" : ": " + entries);
  }

  /// Runs a table: each row names the state of a key, what is expected of it, and the outcome.
  private static void check(String table, Function<String[], String> outcome) {
    for (String row : table.strip().lines().toList()) {
      String[] cells = row.split("\\|");
      for (int i = 0; i < cells.length; i++) cells[i] = cells[i].strip();
      assertEquals(cells[2], outcome.apply(cells), row);
    }
  }

  @Test
  void aPutBeginsContinuesOrIsRefusedByWhatItExpectsOfItsKey() {
    check(
        """
        absent  | any          | listed directory 1 @11, put key 1 @12
        absent  | undeleted    | listed directory 1 @11, put key 1 @12
        absent  | absent       | listed directory 1 @11, put key 1 @12
        absent  | generation 3 | Gone
        alive   | any          | put key 6 @11
        alive   | undeleted    | put key 6 @11
        alive   | absent       | AlreadyExists
        alive   | generation 3 | put key 6 @11
        alive   | generation 2 | Gone
        deleted | any          | listed directory 1 @11, put key 6 @12
        deleted | undeleted    | Gone
        deleted | absent       | listed directory 1 @11, put key 6 @12
        deleted | generation 3 | Gone
        """,
        cells -> {
          var fresh = new DraftTest();
          End key = fresh.key(cells[0]);
          return fresh.outcome(fresh.draft.put(key, existence(cells[1]), null, 0, VALUE));
        });
  }

  @Test
  void aDeletionEndsTheGenerationThatItExpects() {
    check(
        """
        absent  | any          | Gone
        alive   | any          | delete key 6 @11, unlisted directory 1 @12
        alive   | generation 3 | delete key 6 @11, unlisted directory 1 @12
        alive   | generation 2 | Gone
        deleted | any          | Gone
        """,
        cells -> {
          var fresh = new DraftTest();
          End key = fresh.key(cells[0]);
          return fresh.outcome(fresh.draft.delete(key, existence(cells[1]), null));
        });
  }

  @Test
  void requestsOfOneBatchSeeWhatThoseBeforeThemDo() {
    End key = key("absent");
    assertEquals("", refusal(draft.put(key, existence("any"), null, 0, VALUE)));
    assertEquals("AlreadyExists", refusal(draft.put(key, existence("absent"), null, 0, VALUE)));
    assertEquals("", refusal(draft.delete(key, existence("generation 1"), null)));
    assertEquals("Gone", refusal(draft.put(key, existence("undeleted"), null, 0, VALUE)));
    assertEquals("", refusal(draft.put(key, existence("any"), null, 0, VALUE)));
    assertEquals(
        "listed directory 1 @11, put key 1 @12, delete key 2 @13, unlisted directory 2 @14,"
            + " listed directory 3 @15, put key 3 @16",
        logged());
    assertEquals(3, key.nextGeneration);
    assertEquals(16, key.nextChange);
  }

  private static String refusal(@Nullable RuntimeException refusal) {
    return refusal == null ? "" : refusal.getClass().getSimpleName();
  }

  @Test
  void theRefusalOfAnotherStoresPutIsLoggedAndChangesNothing() {
    End key = key("deleted");
    RuntimeException refusal = draft.put(key, existence("undeleted"), ORIGIN, 0, VALUE);
    draft.refused(key, ORIGIN, java.util.Objects.requireNonNull(refusal));
    assertEquals("refused key 6 @11", logged());
    assertEquals(0, key.nextGeneration);
    assertEquals(StreamEnd.UNKNOWN, key.nextChange);
  }

  @Test
  void theVerdictOverThePutThatBeganAGenerationEndsIt() {
    End key = key("alive");
    draft.note(key, Records.VERDICT, verdict(4));
    assertEquals(3, key.nextGeneration);
    draft.note(key, Records.VERDICT, verdict(3));
    assertEquals("verdict key 6 @11, verdict key 7 @12, unlisted directory 1 @13", logged());
    assertEquals(0, key.nextGeneration);
    assertTrue(key.everDeleted);
  }

  private static byte[] verdict(long call) {
    var why = Refusal.of(new stoa.CallFailed("it failed"));
    return Records.verdict(new Records.Verdict(call, why));
  }

  @Test
  void anAppendToSeveralStreamsHasOneLogAddress() {
    End one = end("one");
    End two = end("two");
    var given = new long[2];
    draft.append(new StreamEnd[] {one, two}, null, new byte[][] {VALUE, VALUE}, given);
    draft.append(new StreamEnd[] {two}, null, new byte[][] {VALUE}, given);
    assertEquals("data one 1 @11, data two 1 @11, data two 2 @12", logged());
    assertEquals(12, draft.counter());
  }

  // ---- transactions

  @SuppressWarnings("ArrayRecordComponent") // compared by no code
  private record Change(
      StreamEnd end,
      byte @Nullable [] value,
      boolean begins,
      boolean isAddressed,
      long tail,
      List<Draft.Answered> answers)
      implements Draft.Change {
    @Override
    public int code() {
      return 0;
    }

    @Override
    public Records.Origin origin() {
      return ORIGIN;
    }

    @Override
    public byte[] opening() {
      return OPENING;
    }

    @Override
    public boolean isCopied() {
      return !begins;
    }

    @Override
    public void placed(long address, long nowMicros) {
      assertEquals(end.nextTail, address);
    }
  }

  private record Changes(List<StreamEnd> touched, List<Change> changes) implements Draft.Changes {
    @Override
    public long counter() {
      return 9;
    }

    @Override
    public long nowMicros() {
      return 900;
    }

    @Override
    public RuntimeException aborted(StreamEnd changed, long counter) {
      return new IllegalStateException(changed.key.label() + " changed at " + counter);
    }

    @Override
    public @Nullable RuntimeException refusal() {
      return null;
    }
  }

  private static Change put(StreamEnd end, boolean begins) {
    return new Change(end, VALUE, begins, false, end.nextTail, List.of());
  }

  @Test
  void aTransactionHasOneLogAddressForAllThatItDoes() {
    End old = key("alive");
    End begun = end("begun");
    var answer = new Draft.Answered(begun.key, VALUE);
    var asks = new Change(old, VALUE, false, false, 5, List.of(answer));
    var ends = new Change(old, null, false, false, 5, List.of());
    var all = List.of(put(begun, true), asks, ends);
    assertEquals("", refusal(draft.commit(new Changes(List.of(old, begun), all))));
    assertEquals(
        "listed directory 1 @11, put begun 1 @11, put key 6 @11, answered key 7 @11,"
            + " delete key 8 @11, unlisted directory 2 @11",
        logged());
    assertEquals(11, draft.counter());
    assertEquals(11, begun.nextChange);
    assertEquals(0, old.nextGeneration);
  }

  @Test
  void aTransactionIsRefusedWhenAKeyThatItReadHasChangedSince() {
    End read = end("read");
    read.nextChange = 9;
    End written = key("alive");
    var changes = new Changes(List.of(read, written), List.of(put(written, false)));
    assertEquals("", refusal(draft.commit(changes)));
    read.nextChange = 10;
    RuntimeException refusal = draft.commit(changes);
    assertTrue(refusal != null && refusal.toString().endsWith("changed at 10"), "" + refusal);
    assertEquals("put key 6 @11", logged());
  }

  @Test
  void aTransactionIsRefusedWhenItsHandlerWentByAnAddressThatItDoesNotGet() {
    End written = key("alive");
    Collection<StreamEnd> touched = List.of(written);
    var goesByIt = new Change(written, VALUE, false, true, 4, List.of());
    var changes = new Changes(List.copyOf(touched), List.of(goesByIt));
    assertEquals("IllegalStateException", refusal(draft.commit(changes)));
    assertEquals("", logged());
  }

  @Test
  void whatIsRolledBackLeavesTheEndsAsTheyWere() {
    End key = key("alive");
    draft.put(key, existence("any"), null, 0, VALUE);
    draft.delete(key, existence("any"), null);
    draft.rollBack();
    assertEquals(5, key.nextTail);
    assertEquals(3, key.nextGeneration);
    assertEquals(1, key.nextListed);
    assertEquals(StreamEnd.UNKNOWN, key.nextChange);
    assertEquals(0, directory.nextTail);
  }
}
