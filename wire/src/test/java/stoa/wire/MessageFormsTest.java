package stoa.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import stoa.wire.proto.Request;

/// Values in messages.
class MessageFormsTest {
  private static Request limited(Duration timeMax) {
    return MessageForms.limitWaiting(Request.newBuilder(), timeMax).build();
  }

  @Test
  void aCallMayWaitForLongerThanAnIntegerOfMillisecondsTells() {
    assertEquals(1, MessageForms.waitMillis(limited(Duration.ofNanos(1))));
    assertEquals(5, MessageForms.waitMillis(limited(Duration.ofMillis(5))));
    assertEquals(0, limited(Duration.ofMillis(Integer.MAX_VALUE)).getWaitMillis());
    Request longer = limited(Duration.ofDays(60));
    assertEquals(Duration.ofDays(60).toMillis(), MessageForms.waitMillis(longer));
    assertEquals(Integer.MAX_VALUE, longer.getTimeMillis()); // as earlier servers read it
    assertEquals(
        Long.MAX_VALUE, MessageForms.waitMillis(limited(Duration.ofSeconds(Long.MAX_VALUE))));
    Request none = MessageForms.limitWaiting(Request.newBuilder(), null).build();
    assertEquals(0, MessageForms.waitMillis(none));
  }
}
