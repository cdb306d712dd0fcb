package stoa.base;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class TraceParentTest {
  private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
  private static final String SPAN = "b7ad6b7169203331";
  private static final String VALID = "00-" + TRACE + "-" + SPAN + "-01";

  @Test
  void readsWhatItWrites() {
    var read = TraceParent.parse(VALID);
    assertNotNull(read);
    assertEquals(new TraceParent(TRACE, SPAN, true), read);
    assertEquals(VALID, read.toString());
    assertEquals(TraceParent.LENGTH, VALID.length());
    var unsampled = TraceParent.parse("00-" + TRACE + "-" + SPAN + "-02");
    assertNotNull(unsampled);
    assertEquals("00-" + TRACE + "-" + SPAN + "-00", unsampled.toString());
  }

  @Test
  void readsTheKnownPartOfALaterVersion() {
    var later = TraceParent.parse("01-" + TRACE + "-" + SPAN + "-01-more");
    assertNotNull(later);
    assertTrue(later.isSampled());
    assertNull(TraceParent.parse("01-" + TRACE + "-" + SPAN + "-01more"));
    assertNull(TraceParent.parse("01-" + TRACE + "-" + SPAN + "-01-" + "x".repeat(600)));
  }

  @Test
  void ignoresWhatIsNone() {
    for (String text :
        List.of(
            "",
            "nonsense",
            VALID.substring(1),
            VALID + "-more",
            VALID.replace("00-0", "ff-0"),
            VALID.toUpperCase(java.util.Locale.ROOT),
            VALID.replace(TRACE, "0".repeat(32)),
            VALID.replace(SPAN, "0".repeat(16)),
            VALID.replace(SPAN, "g".repeat(16)))) {
      assertNull(TraceParent.parse(text), text);
    }
  }
}
