package stoa.indexes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static stoa.Condition.eq;
import static stoa.Condition.greater;
import static stoa.Condition.part;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.History;
import stoa.Index;
import stoa.MapQuery;
import stoa.NotUnique;
import stoa.Shared;
import stoa.SharedMap;
import stoa.Stoa;
import stoa.Unique;
import stoa.front.types.IndexForm;
import stoa.front.types.Keys;
import stoa.spi.Collections;

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

  record Member(@Unique String code, @Index String team) {}

  private static SharedMap<String, Member> members(Stoa stoa) {
    return stoa.map("members", String.class, Member.class);
  }

  private static String form(String text) {
    return Objects.requireNonNull(IndexForm.named("text")).encode(text);
  }

  private static IndexPart partOf(Stoa stoa, String index, String value) {
    int number = InstalledIndexes.numberOf(form(value));
    return InstalledIndexes.partAt(stoa, "stoa.Map members", index, number);
  }

  private static void checkNeverFree(Stoa stoa, String code) {
    History<IndexPart> history = stoa.history(partOf(stoa, "unique code text", code));
    boolean isTaken = false;
    for (long version = history.oldest(); version <= history.version(); version++) {
      boolean now = history.at(version).count(form(code)) > 0;
      assertTrue(now || !isTaken, code + " is free at version " + version);
      isTaken |= now;
    }
    assertTrue(isTaken, code);
  }

  @Test
  void aUniqueValueThatGoesFromEntryToEntryIsNeverFree() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedMap<String, Member> members = members(stoa);
      members.put("a", new Member("1", "x"));
      members.put("b", new Member("2", "x"));
      members.put("c", new Member("3", "x"));
      members.putAll(Map.of("a", new Member("2", "y"), "b", new Member("1", "y")));
      var refused = new LinkedHashMap<String, Member>();
      refused.put("a", new Member("1", "z"));
      refused.put("b", new Member("3", "z"));
      assertThrows(NotUnique.class, () -> members.putAll(refused));
      assertEquals(new Member("2", "y"), members.get("a"));
      assertEquals(new Member("1", "y"), members.get("b"));
      for (String code : List.of("1", "2", "3")) checkNeverFree(stoa, code);
      assertEquals(List.of(), stoa.checkIndexes(members));
    }
  }

  @Test
  void anEntryOfAnAnswerMeetsTheConditionBetweenTheStepsOfACall() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedMap<String, Member> members = members(stoa);
      members.put("a", new Member("1", "x"));
      members.put("b", new Member("2", "y"));
      members.put("c", new Member("3", "y"));
      // As if a call had put "y" into "a", and had not yet changed the index.
      partOf(stoa, "index team text", "y").add(form("y"), InstalledIndexes.text(Keys.encode("a")));
      assertEquals(
          List.of(
              "the index team text of stoa.Map members has \"a\" under \"y\", and the entry has"
                  + " \"x\""),
          Collections.installed()
              .indexes()
              .differences(stoa, "stoa.Map members", "index team text", List.of(), null));
      MapQuery<String, Member> ys =
          stoa.query(members).where(eq(part(Member::team), "y")).orderBy(part(Member::team));
      assertEquals(List.of("b", "c"), ys.list().stream().map(Map.Entry::getKey).toList());
      assertEquals("b", ys.first().orElseThrow().getKey());
      assertEquals(
          List.of("c"),
          ys.where(greater(part(Member::code), "2")).list().stream()
              .map(Map.Entry::getKey)
              .toList());
    }
  }

  record Part(@Unique String code) {}

  @Test
  void aCallThatIsRefusedTakesBackAValueWhoseEntryTheIndexLacked() {
    try (Stoa stoa = Stoa.open("memory:")) {
      SharedMap<String, Part> parts = stoa.map("parts", String.class, Part.class);
      parts.put("m", new Part("1"));
      parts.put("taken", new Part("3"));
      var _ = stoa.query(parts).count();
      String one = "\u0001" + "1"; // the form of the text
      String index = "unique code text";
      IndexPart part =
          InstalledIndexes.partAt(stoa, "stoa.Map parts", index, InstalledIndexes.numberOf(one));
      part.remove(one, InstalledIndexes.text(Keys.encode("m")));
      var changes = new LinkedHashMap<String, Part>();
      changes.put("a", new Part("3"));
      changes.put("m", new Part("9"));
      changes.put("z", new Part("1"));
      NotUnique refused = assertThrows(NotUnique.class, () -> parts.putAll(changes));
      assertTrue(
          String.valueOf(refused.getMessage()).contains("that of \"taken\" has it"),
          refused.getMessage());
      assertEquals(new Part("1"), parts.get("m"));
      assertEquals(2, parts.size());
      assertEquals(List.of(), stoa.checkIndexes(parts));
      changes.remove("a");
      parts.putAll(changes);
      assertEquals(List.of(), stoa.checkIndexes(parts));
    }
  }
}
