package stoa.cli;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Shared;
import stoa.Stoa;

/// An operator's commands save the rest of a damaged store.
class SalvageTest {
  @Shared(name = "salvage.Notes")
  static class Notes {
    private final List<String> lines = new ArrayList<>();

    public int add(String line) {
      lines.add(line);
      return lines.size();
    }

    @Accessor
    public List<String> lines() {
      return List.copyOf(lines);
    }
  }

  @TempDir private Path directory;
  private Path data = Path.of("");
  private Path to = Path.of("");

  @BeforeEach
  void fill() {
    data = directory.resolve("data");
    to = directory.resolve("new");
    try (Stoa stoa = Stoa.open("file:" + data)) {
      for (int i = 0; i < 6; i++) {
        stoa.get(Notes.class, "a").add("apple " + i);
        stoa.get(Notes.class, "b").add("berry " + i);
      }
    }
  }

  private static String stoa(int exitCode, String... arguments) {
    var text = new StringWriter();
    var out = new PrintWriter(text);
    assertEquals(exitCode, Main.run(out, out, arguments), text::toString);
    return text.toString();
  }

  /// Changes a byte of what was written to the log, where it says something for the last time.
  private void damage(String text) throws Exception {
    Path segment = data.resolve("segment-00000001");
    byte[] bytes = Files.readAllBytes(segment);
    String all = new String(bytes, StandardCharsets.ISO_8859_1);
    int at = all.lastIndexOf(text);
    assertTrue(at > 0, text);
    bytes[at] ^= 1;
    Files.write(segment, bytes);
  }

  private List<String> lines(Path of, String name) {
    try (Stoa stoa = Stoa.open("file:" + of)) {
      return stoa.get(Notes.class, name).lines();
    }
  }

  @Test
  void nothingIsDamagedInAStoreThatIsNot() {
    String said = stoa(0, "scrub", "--data", data.toString());
    assertTrue(said.contains("nothing is damaged"), said);
    stoa(0, "salvage", "--data", data.toString(), "--to", to.toString());
    assertEquals(6, lines(to, "a").size());
  }

  @Test
  void anObjectKeepsWhatIsBeforeTheDamageAndOthersKeepEverything() throws Exception {
    damage("apple 3");
    byte[] before = Files.readAllBytes(data.resolve("segment-00000001"));
    String said = stoa(1, "scrub", "--data", data.toString());
    assertTrue(said.contains("salvage.Notes[a]: versions 4 to 6 lost"), said);
    assertTrue(said.contains("1 damaged, and 2 that cannot be made without them"), said);
    said = stoa(1, "salvage", "--data", data.toString(), "--to", to.toString());
    assertTrue(said.contains("salvage.Notes[a]: versions 4 to 6 lost"), said);
    assertEquals(List.of("apple 0", "apple 1", "apple 2"), lines(to, "a"));
    assertEquals(6, lines(to, "b").size());
    assertTrue(Files.readString(directory.resolve("new.lost")).contains("salvage.Notes[a]"));
    assertArrayEquals(before, Files.readAllBytes(data.resolve("segment-00000001")));
    try (Stoa stoa = Stoa.open("file:" + to)) {
      assertEquals(4, stoa.get(Notes.class, "a").add("apricot"));
      assertEquals(7, stoa.get(Notes.class, "b").add("banana"));
    }
    assertEquals(List.of("apple 0", "apple 1", "apple 2", "apricot"), lines(to, "a"));
    stoa(0, "scrub", "--data", to.toString());
  }

  @Test
  void aDamagedIndexIsToldAndCostsNothing() throws Exception {
    Path manifest = data.resolve("manifest");
    byte[] bytes = Files.readAllBytes(manifest);
    bytes[20] ^= 1;
    Files.write(manifest, bytes);
    String said = stoa(1, "scrub", "--data", data.toString());
    assertTrue(said.contains("manifest"), said);
    assertTrue(said.contains("made anew"), said);
    assertEquals(6, lines(data, "a").size());
    stoa(0, "scrub", "--data", data.toString());
  }

  @Test
  void whatIsNoStoreOrIsOpenIsRefusedAsMisuse() throws Exception {
    stoa(2, "scrub", "--data", directory.resolve("none").toString());
    stoa(2, "scrub");
    try (Stoa _ = Stoa.open("file:" + data)) {
      String said = stoa(2, "scrub", "--data", data.toString());
      assertTrue(said.contains("is open"), said);
    }
    Files.createDirectories(to);
    Files.writeString(to.resolve("x"), "x");
    stoa(2, "salvage", "--data", data.toString(), "--to", to.toString());
  }
}
