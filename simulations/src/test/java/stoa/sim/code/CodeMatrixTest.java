package stoa.sim.code;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import stoa.NotShareable;
import stoa.Stoa;
import stoa.objects.CodeService;
import stoa.objects.ObjectService;

/// Changes of a program, each made to a store with a dozen calls, and to one with checkpoints, by
/// opening the store with the changed program and by deploying it while the store is open. The
/// state and the past are what they were, or the change is refused with the rule that settles it,
/// and nothing has changed.
class CodeMatrixTest {
  private static final int FEW = 12;
  // The many calls make a checkpoint. A caller makes each part of them in one transaction.
  private static final int MANY = 2_000;
  private static final int PART = 100;

  /// A change with its programs.
  private record Row(CodeChange change, CompiledProgram before, CompiledProgram after) {
    @Override
    public String toString() {
      return change.name();
    }
  }

  @TempDir private static Path classes;

  private static final List<Row> ROWS = new ArrayList<>();

  private static Stream<Row> changes() {
    return ROWS.stream();
  }

  @BeforeAll
  static void compile() {
    List<CodeChange> changes = CodeChanges.numbered();
    var before = changes.stream().map(CodeChange::before).toList();
    var after = changes.stream().map(CodeChange::after).toList();
    List<CompiledProgram> first = CompiledProgram.all(classes.resolve("before"), before);
    List<CompiledProgram> second = CompiledProgram.all(classes.resolve("after"), after);
    for (int i = 0; i < changes.size(); i++) {
      ROWS.add(new Row(changes.get(i), first.get(i), second.get(i)));
    }
  }

  @TempDir private Path directory;

  private <T extends @Nullable Object> T open(CompiledProgram program, Function<Stoa, T> use) {
    return program.run(() -> {
      try (Stoa stoa = Stoa.open("file:" + directory.resolve("store"))) {
        return use.apply(stoa);
      }
    });
  }

  private static Object thing(CompiledProgram program, Stoa stoa) {
    return stoa.get(program.type("Thing"), "t");
  }

  private static int run(Object thing, int i) {
    return (int)
        Objects.requireNonNull(CompiledProgram.callFirst(thing, List.of("run", "walk"), i));
  }

  private static @Nullable Object show(Object thing) {
    return CompiledProgram.callFirst(thing, List.of("show"));
  }

  /// Calls an object, and tells what it was at some of its versions.
  private static SortedMap<Long, Object> called(Object thing, Stoa stoa, int calls) {
    var shown = new TreeMap<Long, Object>();
    int noted = calls == MANY ? 2 : 4; // a read of the past executes its calls
    for (int from = 0; from < calls; from += calls / noted) {
      int to = from + calls / noted;
      if (calls == MANY) inParts(stoa, thing, from, to);
      else run(thing, from, to);
      shown.put(stoa.history(thing).version(), Objects.requireNonNull(show(thing)));
    }
    return shown;
  }

  private static void inParts(Stoa stoa, Object thing, int from, int to) {
    for (int at = from; at < to; at += PART) {
      int part = at;
      stoa.transact(() -> run(thing, part, part + PART));
    }
  }

  private static void run(Object thing, int from, int to) {
    for (int i = from; i < to; i++) {
      var _ = run(thing, i);
    }
  }

  private static void assertPast(SortedMap<Long, Object> shown, Object thing, Stoa stoa) {
    shown.forEach((version, then) ->
        assertEquals(then, show(stoa.history(thing).at(version)), "version " + version));
  }

  @ParameterizedTest
  @MethodSource("changes")
  void isTakenOrRefusedByOpeningTheStoreAfterAFewCalls(Object row) {
    byOpening((Row) row, FEW);
  }

  @ParameterizedTest
  @MethodSource("changes")
  void isTakenOrRefusedByOpeningTheStoreAfterManyCalls(Object row) {
    byOpening((Row) row, MANY);
  }

  private void byOpening(Row row, int calls) {
    CodeChange change = row.change();
    CompiledProgram before = row.before();
    CompiledProgram after = row.after();
    var shown = open(before, stoa -> called(thing(before, stoa), stoa, calls));
    next(before, after, change.outcome(), shown, calls);
    if (change.outcome() instanceof CodeChange.Outcome.Kept) {
      next(after, before, change.back(), shown, calls);
    }
  }

  /* The program of before has made the store; another one comes. */
  private void next(
      CompiledProgram before,
      CompiledProgram after,
      CodeChange.Outcome outcome,
      SortedMap<Long, Object> shown,
      int calls) {
    if (outcome instanceof CodeChange.Outcome.Refused(String words)) {
      var refusal =
          assertThrows(NotShareable.class, () -> open(after, stoa -> run(thing(after, stoa), 1)));
      assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal::getMessage);
      open(
          before,
          stoa -> {
            Object thing = thing(before, stoa);
            assertEquals(shown.get(shown.lastKey()), show(thing));
            assertEquals(shown.lastKey(), stoa.history(thing).version());
            assertPast(shown, thing, stoa);
            return null;
          });
      return;
    }
    open(
        after,
        stoa -> {
          Object thing = thing(after, stoa);
          assertEquals(shown.get(shown.lastKey()), show(thing));
          assertPast(shown, thing, stoa);
          shown.putAll(called(thing, stoa, calls));
          assertPast(shown, thing, stoa);
          return null;
        });
    open(
        after,
        stoa -> {
          Object thing = thing(after, stoa);
          assertEquals(shown.get(shown.lastKey()), show(thing));
          assertPast(shown, thing, stoa);
          return null;
        });
  }

  @ParameterizedTest
  @MethodSource("changes")
  void isTakenOrRefusedByDeployingIt(Object row) {
    CodeChange change = ((Row) row).change();
    CompiledProgram before = ((Row) row).before();
    CompiledProgram after = ((Row) row).after();
    open(
        before,
        stoa -> {
          CodeService code = ObjectService.of(stoa, _ -> true).code();
          Object thing = thing(before, stoa);
          var shown = called(thing, stoa, FEW);
          var found = code.deploy(after.files(), _ -> {});
          boolean fits = found.stream().allMatch(CodeService.Finding::fits);
          assertEquals(change.outcome() instanceof CodeChange.Outcome.Kept, fits);
          if (change.outcome() instanceof CodeChange.Outcome.Refused(String words)) {
            assertTrue(found.toString().contains(words), found::toString);
          }
          assertPast(shown, thing, stoa);
          assertEquals(shown.get(shown.lastKey()), show(thing));
          return null;
        });
  }
}
