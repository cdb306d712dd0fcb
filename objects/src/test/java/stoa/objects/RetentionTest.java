package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Keep;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.TooOld;
import stoa.View;

class RetentionTest {
  @TempDir Path directory;

  /// A page that remembers how often it was written, and the last text.
  @Shared(name = "test.Page", key = "id")
  static class Page {
    private final String id;
    private int writes;
    private String text = "";

    protected Page(String id) {
      this.id = id;
    }

    @Accessor
    public String id() {
      return id;
    }

    public void write(String newText) {
      writes++;
      text = newText;
    }

    @Accessor
    public int writes() {
      return writes;
    }

    @Accessor
    public String text() {
      return text;
    }
  }

  private StoaConfig config() {
    return StoaConfig.of("file:" + directory);
  }

  @Test
  void theReleasedPastOfAnObjectIsTooOldForEveryReader() {
    long version;
    int writes;
    try (Stoa stoa = Stoa.open(config())) {
      Page page = stoa.get(Page.class, "a");
      for (int i = 1; i <= 100; i++) page.write("text " + i + " " + "x".repeat(3_000));
      var history = stoa.history(page);
      version = history.version();
      assertEquals(1, history.oldest());
      long middle = version / 2;
      writes = history.at(middle).writes();
      assertEquals(middle, history.trim(middle));
      assertEquals(middle, history.oldest());
      assertEquals(writes, history.at(middle).writes());
      assertEquals(version - middle + 1, history.entries(middle, version).size());
      var told = assertThrows(TooOld.class, () -> history.at(middle - 1).writes());
      assertEquals(middle - 1, told.version());
      assertEquals(middle, told.oldest());
      assertThrows(TooOld.class, () -> history.entries(1, version));
      var view = new View.AtVersion(middle - 1);
      assertThrows(TooOld.class, () -> stoa.view(Page.class, stoa.ref(page), view).writes());
      assertThrows(IllegalArgumentException.class, () -> history.trim(version + 1));
    }
    try (Stoa stoa = Stoa.open(config())) {
      Page page = stoa.get(Page.class, "a");
      var history = stoa.history(page);
      assertEquals(version / 2, history.oldest());
      assertEquals(100, page.writes());
      assertEquals(writes, history.at(version / 2).writes());
      assertThrows(TooOld.class, () -> history.at(1).writes());
    }
  }

  @Test
  void aTransactionHoldsWhatItSees() {
    try (Stoa stoa = Stoa.open(config())) {
      Page page = stoa.get(Page.class, "a");
      for (int i = 1; i <= 50; i++) page.write("x".repeat(3_000));
      var history = stoa.history(page);
      long seen = history.version();
      stoa.transact(() -> {
        assertEquals(50, page.writes());
        var other =
            new Thread(() -> {
              for (int i = 51; i <= 100; i++) page.write("x".repeat(3_000));
              assertTrue(history.trim(history.version()) <= seen);
            });
        other.start();
        try {
          other.join();
        } catch (InterruptedException e) {
          throw new IllegalStateException(e);
        }
        assertEquals(50, page.writes());
        return true;
      });
      assertEquals(history.version(), history.trim(history.version()));
    }
  }

  @Test
  @Tag("one-group")
  void aStoreForgetsAsItIsToldTo() {
    var forgetful = config().withKeep(Keep.versions(10));
    try (Stoa stoa = Stoa.open(forgetful)) {
      Page page = stoa.get(Page.class, "a");
      for (int i = 1; i <= 200; i++) page.write("text " + i + " " + "x".repeat(3_000));
      var history = stoa.history(page);
      assertTrue(history.oldest() > 100, "the oldest is " + history.oldest());
      assertTrue(history.oldest() <= history.version() - 10);
      assertEquals(200, history.at(history.version()).writes());
      assertTrue(history.at(history.oldest()).text().startsWith("text "));
    }
  }

  @Test
  void aFileStoreKeepsEverythingAndAMemoryStoreSomeVersions() {
    assertEquals(Keep.all(), config().keep());
    assertInstanceOf(Keep.Versions.class, StoaConfig.of("memory:").keep());
    assertThrows(IllegalArgumentException.class, () -> Keep.versions(-1));
    assertThrows(IllegalArgumentException.class, () -> Keep.age(Duration.ofSeconds(-1)));
  }
}
