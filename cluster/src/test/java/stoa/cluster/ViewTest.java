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

class ViewTest {
  private static View view(String... failed) {
    var groups = new TreeMap<Integer, View.Placed>();
    for (int number : List.of(0, 1)) {
      var behind = new TreeMap<String, Long>();
      for (String name : List.of("a", "b", "c")) behind.put(name, 7L + number);
      var out = new TreeSet<String>(number == 1 ? List.of(failed) : List.of());
      groups.put(number, new View.Placed(Optional.of("a"), behind, out));
    }
    return new View(List.of(), groups, Optional.of(new Step.Transfer("b", 1)));
  }

  private static byte[] bytes(View view) {
    var out = new Encoder(64);
    view.write(out);
    return out.toBytes();
  }

  @Test
  void isReadAsItWasWritten() {
    assertEquals(view("b", "c"), View.read(new Decoder(bytes(view("b", "c")))));
  }

  @Test
  void whatServersOfVersionsBeforeWriteTellsOfNoFailedReplica() {
    byte[] now = bytes(view());
    byte[] before = Arrays.copyOf(now, now.length - 2); // without a count for each group
    assertEquals(view(), View.read(new Decoder(before)));
  }
}
