package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;

/// The knowledge of a parent about the localities of the nodes below a child.
class LocalitiesTest {
  private static SortedSet<Locality> some(String... paths) {
    SortedSet<Locality> all = new TreeSet<>();
    for (var path : paths) all.add(Locality.of(path));
    return all;
  }

  @Test
  void asManyNamesAsAreSharedSayHowNearTwoAre() {
    var here = Locality.of("eu/rack-3/host-7");
    assertEquals(2, here.shared(Locality.of("eu/rack-3/host-70")));
    assertEquals(1, here.shared(Locality.of("eu/rack-33/host-7")));
    assertEquals(3, here.shared(Locality.of("eu/rack-3/host-7/process-1")));
    assertEquals(0, here.shared(Locality.UNKNOWN));
    assertEquals(2, Localities.nearness(some("us/rack-3/host-7", "eu/rack-3", "eu"), here));
    assertEquals(0, Localities.nearness(some(), here));
  }

  @Test
  void whatIsNoPathIsRefusedWithWordsThatSaySo() {
    for (var wrong :
        List.of("", "/", "a//b", "a/", "a b", "a/\n", "1/2/3/4/5/6/7/8/9", "x".repeat(201))) {
      var refused = assertThrows(IllegalArgumentException.class, () -> Locality.of(wrong), wrong);
      assertTrue(String.valueOf(refused.getMessage()).contains("eu-west/rack-3"), wrong);
    }
    assertEquals(200, Locality.of("x".repeat(200)).toString().length());
  }

  @Test
  void aNodeSaysWhereItIsAndAllBelowIt() {
    var all = Localities.of(Locality.of("a"), List.of(some("b", "c"), some("b/1")));
    assertEquals(some("a", "b", "b/1", "c"), all);
    assertEquals(some(), Localities.of(Locality.UNKNOWN, List.of()));
  }

  @Test
  void theNarrowestNamesAreLeftOutWhenThereAreTooMany() {
    SortedSet<Locality> many = new TreeSet<>();
    for (int i = 0; i < 1_000; i++) many.add(Locality.of("eu/rack-" + i % 10 + "/host-" + i));
    many.add(Locality.of("us"));
    var all = Localities.of(Locality.of("us/rack-1"), List.of(many));
    assertEquals(12, all.size());
    assertTrue(
        all.containsAll(some("eu/rack-0", "eu/rack-9", "us", "us/rack-1")), () -> "only " + all);
  }

  @Test
  void evenTheWidestNamesAreBounded() {
    SortedSet<Locality> many = new TreeSet<>();
    for (int i = 0; i < 1_000; i++) many.add(Locality.of("host-" + i));
    assertEquals(
        Message.Depth.LOCALITIES_MAX, Localities.of(Locality.UNKNOWN, List.of(many)).size());
  }
}
