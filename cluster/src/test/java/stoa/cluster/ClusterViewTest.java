package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.base.Decoder;
import stoa.base.Encoder;

class ClusterViewTest {
  private static ClusterView view(String... failed) {
    var groups = new TreeMap<Integer, ClusterView.Placed>();
    for (int number : List.of(0, 1)) {
      var behind = new TreeMap<String, Long>();
      for (String name : List.of("a", "b", "c")) behind.put(name, 7L + number);
      var out = new TreeSet<String>(number == 1 ? List.of(failed) : List.of());
      groups.put(number, new ClusterView.Placed(Optional.of("a"), behind, out));
    }
    return new ClusterView(List.of(), groups, Optional.of(new Step.Transfer("b", 1)));
  }

  private static byte[] bytes(ClusterView view) {
    var out = new Encoder(64);
    view.write(out);
    return out.toBytes();
  }

  @Test
  void isReadAsItWasWritten() {
    ClusterView view = view("b", "c");
    assertEquals(view, ClusterView.read(new Decoder(bytes(view))));
    var alarmed = new ClusterView(view.servers(), view.groups(), view.step(), List.of("trouble"));
    assertEquals(alarmed, ClusterView.read(new Decoder(bytes(alarmed))));
  }

  @Test
  void whatServersOfVersionsBeforeWriteTellsOfNoFailedReplica() {
    byte[] now = bytes(view());
    // Without the count of alarms, and a count or two for each group.
    for (int counts : List.of(1, 3, 5)) {
      byte[] before = Arrays.copyOf(now, now.length - counts);
      assertEquals(view(), ClusterView.read(new Decoder(before)));
    }
    // Some of them tell which members lack classes.
    byte[] before = Arrays.copyOf(now, now.length - 3);
    var lacking = new Encoder(64).raw(before).varint(1).text("b").varint(1).text("a (A)").varint(0);
    assertEquals(view(), ClusterView.read(new Decoder(lacking.toBytes())));
  }
}
