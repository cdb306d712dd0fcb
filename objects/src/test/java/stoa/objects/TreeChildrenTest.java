package stoa.objects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.base.Key;

class TreeChildrenTest {
  private static TreeChildren in(Stoa stoa, String domain) {
    return new TreeChildren(LocalService.of(stoa).core(), domain);
  }

  @Test
  void eachTreeHasAListThatOutlivesTheProcess(@TempDir Path directory) {
    var engine = new EmbeddedEngine();
    var config = StoaConfig.of("file:" + directory);
    var stoa = engine.open(config);
    try (var _ = ObjectService.of(stoa, _ -> false)) {
      var list = in(stoa, "one");
      assertEquals(Set.of(), list.all());
      list.replace(List.of("a#1", "b#1"));
      list.replace(List.of("b#1", "c#1"));
      in(stoa, "two").replace(List.of("d#1"));
      assertEquals(Set.of("b#1", "c#1"), list.all());
    }
    var again = engine.open(config);
    try (var _ = ObjectService.of(again, _ -> false)) {
      var list = in(again, "one");
      assertEquals(Set.of("b#1", "c#1"), list.all());
      assertEquals(Set.of("d#1"), in(again, "two").all());
      list.replace(List.of());
      assertEquals(Set.of(), in(again, "one").all());
    }
  }

  @Test
  void theLogHasChangesAloneAndIsTrimmed() {
    var stoa = new EmbeddedEngine().open(StoaConfig.of("memory:"));
    try (var _ = ObjectService.of(stoa, _ -> false)) {
      var list = in(stoa, "one");
      var names = new TreeSet<String>();
      IntStream.range(0, 1_000).forEach(i -> names.add("leaf://" + i + "#1"));
      list.replace(names);
      long before = LocalService.of(stoa).core().tail(Key.of("stoa/tree", "one"));
      list.replace(names); // no change, and no entry
      assertEquals(before, LocalService.of(stoa).core().tail(Key.of("stoa/tree", "one")));
      for (int i = 0; i < 1_100; i++) {
        names.remove("leaf://" + i + "#1");
        names.add("leaf://" + (i + 1_000) + "#1");
        list.replace(names);
      }
      assertEquals(names, in(stoa, "one").all());
      assertTrue(LocalService.of(stoa).core().oldest(Key.of("stoa/tree", "one")) > 500);
    }
  }
}
