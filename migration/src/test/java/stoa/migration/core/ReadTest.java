package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.Reads;
import stoa.base.StreamId;
import stoa.migration.core.TreeNode.Retrieval;

/// The copies that a node keeps after its reads.
class ReadTest {
  private static final int STATE_BYTES = 100;
  private static final int KEPT = 10;
  private static final int OBJECTS = 3 * KEPT;

  private final NodeId root = new NodeId("root", 0);
  private final TreeNode node =
      TreeNode.client(
          new NodeId("node", 1),
          new TreeNode.Settings(5, Retrieval.ONE_BY_ONE).withCopyBytesMax(KEPT * STATE_BYTES));
  private long numbers;

  ReadTest() {
    on(new Event.Join(root, Locality.UNKNOWN));
    says(new Message.Offer(root));
    says(new Message.Welcome());
  }

  private List<Effect> on(Event event) {
    return node.on(event);
  }

  private List<Effect> says(Message message) {
    return on(new Event.Received(root, message));
  }

  private static StreamId object(int i) {
    return new StreamId(0, i + 1);
  }

  /* The object was here, and went on: an old copy of it is left. */
  private void passes(int i) {
    long number = ++numbers;
    on(new Event.Submit(number, new TreeSet<>(List.of(object(i)))));
    says(new Message.Migrate(object(i), up(i, 1, 1)));
    on(new Event.Executed(number, new TreeMap<>()));
    says(new Message.Retrieve(object(i)));
  }

  private static Upward up(int i, long version, int bytes) {
    return new Upward(List.of(copy(i, version, bytes)), List.of());
  }

  private static Copy copy(int i, long version, int bytes) {
    return new Copy(object(i), new CopyVersion(1, version), new byte[bytes]);
  }

  /* What the read is answered with here; nothing when it asks others. */
  private List<Copy> readsLocally(int i) {
    var answers = new ArrayList<Copy>();
    for (var effect : on(new Event.Read(++numbers, object(i), Reads.LOCAL))) {
      if (effect instanceof Effect.Answer(_, var copy)) answers.add(copy);
      else assertInstanceOf(Effect.Send.class, effect);
    }
    return answers;
  }

  private void sees(int i, long version) {
    long number = ++numbers;
    on(new Event.Read(number, object(i), Reads.STRICT));
    var effects = says(new Message.Answer(number, copy(i, version, STATE_BYTES)));
    assertEquals(1, effects.size());
  }

  @Test
  void whatReadsHaveSeenIsBoundedAndNothingOlderIsReadInstead() {
    for (int i = 0; i < OBJECTS; i++) passes(i);
    for (int i = 0; i < OBJECTS; i++)
      assertEquals(1, readsLocally(i).getFirst().version().number());
    for (int i = 0; i < OBJECTS; i++) sees(i, 2);
    int kept = 0;
    for (int i = 0; i < OBJECTS; i++) {
      var answers = readsLocally(i);
      kept += answers.size();
      assertTrue(answers.stream().allMatch(each -> each.version().number() == 2));
    }
    assertEquals(KEPT, kept);
  }

  @Test
  void whatWasReadLastIsKept() {
    for (int i = 0; i < KEPT; i++) sees(i, 1);
    assertEquals(1, readsLocally(0).size());
    sees(KEPT, 1);
    assertEquals(1, readsLocally(0).size());
    assertEquals(0, readsLocally(1).size());
    sees(0, 2); // in place of what was seen before
    assertEquals(2, readsLocally(0).getFirst().version().number());
    assertEquals(1, readsLocally(2).size());
  }
}
