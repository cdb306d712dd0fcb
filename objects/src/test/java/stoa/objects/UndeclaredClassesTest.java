package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import stoa.Blob;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.StoaException;
import stoa.UnknownOutcome;

/// Values in places that declare no class, as `Object` and `List<?>`. Another type of the program
/// names their classes, so the process that makes a call knows them; a later process has not used
/// that type when it reads the call.
class UndeclaredClassesTest {
  private static final String NOTE = "public record Note(String text) {}";
  private static final String COLOR = "public enum Color { RED, BLUE }";
  private static final String NOTES =
      "@Shared(name = \"notes\") public class Notes { private Note last; private Color color;"
          + " public void set(Note note, Color color, Note[] more) { last = note; }"
          + " @Accessor public Note last() { return last; } }";
  private static final String BOARD_HEAD =
      "@Shared(name = \"board\") public class Board {"
          + " private final List<Object> all = new ArrayList<>();"
          + " public Board() {}"
          + " public Board(Object first) { all.add(first); }"
          + " public void add(Object one) { all.add(one); }"
          + " public void addAll(List<?> some) { all.addAll(some); }"
          + " @Accessor public List<?> all() { return new ArrayList<>(all); }"
          + " @Accessor public int size() { return all.size(); } ";
  private static final String BOARD = BOARD_HEAD + "}";
  private static final String NEXT_BOARD =
      BOARD_HEAD + "public void drop() { all.removeLast(); } }";

  private final Replicas replicas = new Replicas();

  @TempDir Path directory;

  private Program build(boolean versions, String name, String... sources) {
    Path classes = directory.resolve(name);
    return versions ? new Program(classes, sources) : Program.withoutVersions(classes, sources);
  }

  /// Opens the store on the other replica.
  private void open(Program program, Consumer<Stoa> use) {
    program.run(() -> {
      try (Stoa stoa = replicas.open(StoaConfig.of("file:simulated"))) {
        use.accept(stoa);
      }
      return "";
    });
  }

  private static Object board(Program program, Stoa stoa, Object... first) {
    return stoa.get(program.type("Board"), "b", first);
  }

  private static List<?> all(Object board) {
    return (List<?>) Objects.requireNonNull(Program.call(board, "all"));
  }

  /// Makes calls whose values have classes that only another type names.
  private void fill(Program program) {
    open(
        program,
        stoa -> {
          Object notes = stoa.get(program.type("Notes"), "n");
          Object note = program.make("Note", "hello");
          Object red = program.type("Color").getEnumConstants()[0];
          Object more = java.lang.reflect.Array.newInstance(program.type("Note"), 1);
          java.lang.reflect.Array.set(more, 0, note);
          Program.call(notes, "set", note, red, more);
          Object board = board(program, stoa, note);
          Program.call(board, "add", note);
          Program.call(board, "addAll", List.of(note, red));
          Program.call(board, "add", more);
          Program.call(board, "add", notes);
          Program.call(board, "add", program.type("Note"));
          Program.call(board, "add", stoa.get(Blob.class, "blob"));
          assertEquals(8, Program.call(board, "size"));
        });
  }

  private static void checkFilled(Program program, Object board) {
    List<?> all = all(board);
    assertEquals("Note[text=hello]", String.valueOf(all.get(0)));
    assertEquals(all.get(0), all.get(1));
    assertEquals(all.get(0), all.get(2));
    assertEquals("RED", String.valueOf(all.get(3)));
    assertEquals(all.get(0), ((Object[]) all.get(4))[0]);
    assertEquals("Note[text=hello]", String.valueOf(Program.call(all.get(5), "last")));
    assertEquals(program.type("Note"), all.get(6));
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aProcessReadsWhatAnotherOneHasLogged(boolean versions) {
    Program program = build(versions, "first", NOTE, COLOR, NOTES, BOARD);
    fill(program);
    open(program, stoa -> checkFilled(program, board(program, stoa)));
    // And writes them.
    open(
        program,
        stoa -> {
          Object board = board(program, stoa);
          Program.call(board, "add", program.make("Note", "again"));
          assertEquals("Note[text=again]", String.valueOf(all(board).getLast()));
        });
  }

  @Test
  void laterCodeTakesThemOver() {
    fill(build(true, "first", NOTE, COLOR, NOTES, BOARD));
    Program next = build(true, "next", NOTE, COLOR, NOTES, NEXT_BOARD);
    open(
        next,
        stoa -> {
          Object board = board(next, stoa);
          checkFilled(next, board);
          Program.call(board, "drop");
          assertEquals(7, Program.call(board, "size"));
        });
    open(next, stoa -> assertEquals(7, Program.call(board(next, stoa), "size")));
  }

  @Test
  void aRenamedClassIsFound() {
    fill(build(true, "first", NOTE, COLOR, NOTES, BOARD));
    String memo = "@Was(\"v.Note\") public record Memo(String text) {}";
    String renamedNotes =
        NOTES
            .replace("public void", "@MethodId(\"set(v.Note,v.Color,v.Note[])\") public void")
            .replace("Note ", "Memo ")
            .replace("Note[] ", "Memo[] ");
    String[] sources = {memo, COLOR, renamedNotes, BOARD};
    Program renamed = build(true, "renamed", sources);
    open(
        renamed,
        stoa -> {
          Object notes = stoa.get(renamed.type("Notes"), "n");
          assertEquals("Memo[text=hello]", String.valueOf(Program.call(notes, "last")));
        });
    open(
        renamed,
        stoa -> {
          List<?> all = all(board(renamed, stoa));
          assertEquals("Memo[text=hello]", String.valueOf(all.get(2)));
          assertEquals("Memo[]", all.get(4).getClass().getSimpleName());
        });
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void anObjectWaitsForAClassThatTheProcessLacks(boolean versions) {
    Program program = build(versions, "first", NOTE, COLOR, NOTES, BOARD);
    fill(program);
    Program lacking = build(versions, "lacking", BOARD);
    open(
        lacking,
        stoa -> {
          Object board = board(lacking, stoa);
          var read = assertThrows(StoaException.class, () -> Program.call(board, "size"));
          assertTrue(String.valueOf(read.getMessage()).contains("v.Note"), read::toString);
          assertThrows(UnknownOutcome.class, () -> Program.call(board, "add", "more"));
        });
    // The calls that it could not read are there, and the one that it logged is executed.
    open(
        program,
        stoa -> {
          Object board = board(program, stoa);
          checkFilled(program, board);
          assertEquals("more", all(board).getLast());
        });
  }
}
