package stoa.indexes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.Condition.eq;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Index;
import stoa.Shared;
import stoa.Stoa;

/// What indexes have while many callers change values at once.
class IndexUpkeepTest {
  @Shared(name = "test.Box")
  static class Box {
    @Index private int shelf;
    @Index private String label = "";
    private int touched;

    public int move(int to) {
      shelf = to;
      label = "on " + to;
      return to;
    }

    public int up() {
      return move(shelf + 1);
    }

    public void touch() {
      touched++;
    }

    @Accessor
    public int shelf() {
      return shelf;
    }

    @Accessor
    public String label() {
      return label;
    }

    @Accessor
    public int touched() {
      return touched;
    }
  }

  @TempDir Path folder;

  private static void run(List<Callable<Void>> tasks) throws Exception {
    try (var threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<Void>> begun = new ArrayList<>();
      for (Callable<Void> task : tasks) begun.add(threads.submit(task));
      for (Future<Void> one : begun) {
        var _ = one.get();
      }
    }
  }

  private static void act(Stoa stoa, Random random) {
    Box box = stoa.get(Box.class, random.nextInt(3));
    int to = random.nextInt(4);
    switch (random.nextInt(8)) {
      case 0 -> {
        var _ = stoa.delete(box);
      }
      case 1 -> {
        int _ = stoa.transact(() -> box.move((box.shelf() + to) % 4));
      }
      case 2 -> box.touch();
      default -> {
        int at = box.move(to);
        assertEquals(to, at);
      }
    }
  }

  private static void check(Stoa stoa) {
    assertEquals(List.of(), stoa.checkIndexes(Box.class));
    for (int shelf = 0; shelf < 4; shelf++) {
      for (Box box : stoa.query(Box.class).where(eq(Box::shelf, shelf)).list()) {
        assertEquals(shelf, box.shelf());
      }
    }
  }

  @Test
  void indexesAreRightAfterCallsTransactionsAndDeletionsAtOnce() throws Exception {
    String url = "file:" + folder.resolve("data");
    try (Stoa stoa = Stoa.open(url)) {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int caller = 0; caller < 8; caller++) {
        var random = new Random(caller);
        tasks.add(() -> {
          for (int i = 0; i < 60; i++) act(stoa, random);
          return null;
        });
      }
      run(tasks);
      check(stoa);
    }
    try (Stoa again = Stoa.open(url)) {
      check(again);
      again.get(Box.class, 0).up();
      check(again);
    }
  }

  @Test
  void aCallerThatSeesACallFindsWhatItChangedInTheIndexes() throws Exception {
    try (Stoa stoa = Stoa.open("memory:")) {
      Box box = stoa.get(Box.class, 1);
      box.up();
      run(
          List.of(
              () -> {
                for (int i = 0; i < 200; i++) box.up();
                return null;
              },
              () -> {
                for (int i = 0; i < 400; i++) {
                  int seen = box.shelf();
                  boolean isThere =
                      !stoa.query(Box.class).where(eq(Box::shelf, seen)).list().isEmpty();
                  assertTrue(isThere || box.shelf() > seen, "shelf " + seen);
                }
                return null;
              }));
      assertEquals(201, box.shelf());
      check(stoa);
    }
  }
}
