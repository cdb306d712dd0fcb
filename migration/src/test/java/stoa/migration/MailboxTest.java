package stoa.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class MailboxTest {
  private final List<String> done = new ArrayList<>();

  @Test
  void whatIsPutInBehindATaskThatFailsIsDone() {
    var mailbox = new Mailbox(failed -> done.add(String.valueOf(failed.getMessage())));
    mailbox.put(() -> {
      throw new IllegalStateException("one");
    });
    mailbox.put(() -> {
      throw new AssertionError("two");
    });
    mailbox.put(() -> done.add("three"));
    assertEquals(
        List.of("one", "an event was not taken: java.lang.AssertionError: two", "three"), done);
  }

  @Test
  void alsoWhenNobodyCanBeToldOfIt() {
    var mailbox =
        new Mailbox(failed -> {
          throw new AssertionError("told", failed);
        });
    mailbox.put(() -> {
      throw new IllegalStateException("one");
    });
    mailbox.put(() -> done.add("two"));
    assertEquals(List.of("two"), done);
  }
}
