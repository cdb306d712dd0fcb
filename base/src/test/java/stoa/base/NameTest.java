package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class NameTest {
  @Test
  void lettersDigitsAndAFewMarksAreNames() {
    for (String name : new String[] {"s1", "a", "S7400", "rack-2_b.example", "x".repeat(64)}) {
      assertEquals(name, Name.checked("a server", name));
    }
  }

  @Test
  void whatWouldLeadElsewhereIsNone() {
    String[] names = {
      "", "a/b", "../../x", "..", ".", "-x", "a b", "a@b", "a:1", "ä", "a\0", "x\n", "x".repeat(65)
    };
    for (String name : names) {
      var refused =
          assertThrows(IllegalArgumentException.class, () -> Name.checked("a server", name));
      assertTrue(String.valueOf(refused.getMessage()).contains("a-z"), refused::toString);
    }
  }
}
