package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Corrupt;
import stoa.Shared;
import stoa.Stoa;

/// A directory whose index has a damaged block, whichever that is.
class DamagedIndexTest {
  private static final int OBJECTS = 200;
  private static final int CALLS = 3;
  private static final int BLOCK = 4_096;

  @Shared(name = "damaged.Note")
  static class Note {
    private int calls;
    private String text = "";

    public int write(String newText) {
      text = newText;
      return ++calls;
    }

    @Accessor
    public String text() {
      return text + calls;
    }
  }

  private static void verify(Stoa stoa) {
    for (int i = 0; i < OBJECTS; i++) {
      assertEquals("text " + i + CALLS, stoa.get(Note.class, i).text());
    }
  }

  private static List<Path> files(Path directory) throws IOException {
    try (var files = Files.list(directory)) {
      return files.sorted().toList();
    }
  }

  @Test
  void isOpenedAtOnceAndLosesNothing(@TempDir Path folder) throws IOException {
    Path whole = folder.resolve("whole");
    try (Stoa stoa = Stoa.open("file:" + whole)) {
      for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < OBJECTS; i++) stoa.get(Note.class, i).write("text " + i);
      }
    }
    int blocks = 0;
    for (Path run : files(whole)) {
      if (!run.getFileName().toString().startsWith("run-")) continue;
      for (int at = BLOCK / 2; at < Files.size(run); at += BLOCK) {
        Path copy = Files.createDirectory(folder.resolve("copy " + blocks++));
        for (Path file : files(whole)) {
          Files.copy(file, copy.resolve(file.getFileName()), StandardCopyOption.COPY_ATTRIBUTES);
        }
        Path damaged = copy.resolve(run.getFileName());
        byte[] bytes = Files.readAllBytes(damaged);
        bytes[at] ^= 1;
        Files.write(damaged, bytes);
        boolean told = false;
        try (Stoa stoa = Stoa.open("file:" + copy)) {
          try {
            verify(stoa);
          } catch (Corrupt met) {
            told = true; // by a read of what opening had no need of
          }
        }
        if (!told) continue;
        try (Stoa stoa = Stoa.open("file:" + copy)) {
          verify(stoa);
        }
      }
    }
    assertTrue(blocks >= 5, blocks + " blocks");
  }
}
