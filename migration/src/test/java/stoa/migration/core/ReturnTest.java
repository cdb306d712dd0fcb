package stoa.migration.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import stoa.Locality;
import stoa.base.StreamId;
import stoa.migration.core.TreeNode.Retrieval;

/// Children of a root that return to the next one.
class ReturnTest {
  private static final StreamId OBJECT = new StreamId(0, 1);
  private static final StreamId OTHER = new StreamId(0, 2);
  private static final long OLDEST = 100;

  /* A state is its life, and behind that what the object has, if it exists. */
  private static final TreeNode.Lives LIVES =
      new TreeNode.Lives() {
        @Override
        public boolean isOver(byte[] offered, byte[] stored) {
          if (offered[0] != stored[0]) return offered[0] < stored[0];
          return isAbsent(offered) && !isAbsent(stored);
        }

        @Override
        public boolean isAbsent(byte[] state) {
          return state.length == 1;
        }
      };

  private final NodeId child = new NodeId("child", 1);
  private final NodeId second = new NodeId("second", 1);
  private final TreeNode root =
      TreeNode.root(
          new NodeId("root", 2),
          new TreeNode.Settings(5, Retrieval.ONE_BY_ONE),
          OLDEST,
          new TreeSet<>(List.of(child, second)),
          (_, _) -> false);

  private List<Effect> says(NodeId node, Message message) {
    return root.on(new Event.Received(node, message));
  }

  private static Copy copy(StreamId object, long number) {
    return new Copy(object, new CopyVersion(1, number), new byte[] {(byte) number});
  }

  /* The object is at the child, in a version that was not durable. */
  private static Message.Return with(long number) {
    return with(List.of(copy(OBJECT, number)), number);
  }

  private static Message.Return with(List<Copy> copies, long number) {
    SortedMap<StreamId, CopyVersion> has = new TreeMap<>();
    has.put(OBJECT, new CopyVersion(1, number));
    return new Message.Return(new Upward(copies, List.of()), has);
  }

  private List<Effect> stored(StreamId object, long number) {
    Copy copy = copy(object, number);
    return root.on(new Event.Loaded(object, copy.version(), copy.state()));
  }

  @Test
  void aChildReturnsWithWhatTheStoreLacks() {
    assertEquals(List.of(new Effect.Load(OBJECT)), says(child, with(5)));
    var effects = stored(OBJECT, 3);
    assertTrue(effects.contains(new Effect.Send(child, new Message.Welcome())), effects::toString);
    assertEquals(new CopyVersion(1, 5), root.version(OBJECT));
    assertEquals(List.of(second), List.copyOf(root.expected()));
    assertEquals(List.of(child), root.line(OBJECT));
  }

  @Test
  void aChildIsRefusedWhenTheStoreHasANewerVersionOfWhatItTakesForItsOwn() {
    says(child, with(5));
    var effects = stored(OBJECT, 6);
    assertEquals(List.of(new Effect.Cut(child)), effects);
    assertEquals(List.of(second), List.copyOf(root.expected()));
    assertTrue(root.owns(OBJECT));
  }

  @Test
  void aChildIsRefusedWhenTheStoreLacksWhatWasDurable() {
    says(child, with(List.of(), 5));
    assertEquals(List.of(new Effect.Cut(child)), stored(OBJECT, 4));
    says(second, with(List.of(), 4));
    assertEquals(List.of(second), List.copyOf(root.below()));
  }

  @Test
  void aChildReturnsWithOldCopiesOfObjectsThatAreAtTheServer() {
    says(child, with(List.of(copy(OBJECT, 5), copy(OTHER, 2)), 5));
    assertEquals(List.of(), List.copyOf(root.below()));
    stored(OBJECT, 3);
    root.on(new Event.AtServer(OTHER));
    assertEquals(List.of(child), List.copyOf(root.below()));
    assertEquals(CopyVersion.NONE, root.version(OTHER));
    stored(OTHER, 7); // lent again
    assertEquals(7, root.version(OTHER).number());
    root.on(new Event.AtServer(OTHER)); // too late
    assertEquals(7, root.version(OTHER).number());
  }

  @Test
  void aChildIsRefusedWhenAnObjectThatItHasIsAtTheServer() {
    says(child, with(5));
    assertTrue(root.on(new Event.AtServer(OBJECT)).contains(new Effect.Cut(child)));
    assertEquals(List.of(), List.copyOf(root.below()));
  }

  private static Message.Join join(NodeId newcomer) {
    return new Message.Join(newcomer, Locality.UNKNOWN, Message.Join.DETOUR_MAX, new TreeSet<>());
  }

  @Test
  void aNodeIsNotExpectedWhenALaterOneOfItsProcessAsksForAPlace() {
    says(child, new Message.Return(Upward.NOTHING, new TreeMap<>()));
    says(new NodeId("another process", 9), join(new NodeId("another process", 9)));
    says(second, join(second)); // it has asked before the root before has listed it
    assertEquals(List.of(second), List.copyOf(root.expected()));
    var later = new NodeId("second", 2);
    var effects = says(later, join(later));
    assertEquals(List.of(), List.copyOf(root.expected()));
    assertTrue(
        effects.contains(new Effect.Persist(1, List.of(), new TreeSet<>(List.of(child)))),
        effects::toString);
    root.on(new Event.Persisted(1));
    says(child, new Message.Retrieve(OTHER));
    assertTrue(
        root.on(new Event.Loaded(OTHER, null, new byte[0])).stream()
            .anyMatch(effect ->
                effect instanceof Effect.Send(NodeId to, Message.Migrate _) && to.equals(child)),
        "it waits for no more");
  }

  @Test
  void aNodeIsNotExpectedWhenALaterOneOfItsProcessComes() {
    says(child, new Message.Return(Upward.NOTHING, new TreeMap<>()));
    says(new NodeId("second", 2), new Message.Attach(Locality.UNKNOWN));
    assertEquals(List.of(), List.copyOf(root.expected()));
  }

  @Test
  void aNodeThatReturnsIsExpectedUntilItsObjectsAreLoaded() {
    says(child, with(5));
    says(second, new Message.Return(Upward.NOTHING, new TreeMap<>()));
    var later = new NodeId("child", 2);
    says(later, join(later));
    assertEquals(List.of(child), List.copyOf(root.expected()));
    root.on(new Event.Gone(child));
    assertEquals(List.of(), List.copyOf(root.expected()));
  }

  /* A child of a root that has successors, with an object that another node has left there. */
  private static TreeNode childWith(Copy left) {
    return childWith(left, TreeNode.Lives.ONE);
  }

  private static TreeNode childWith(Copy left, TreeNode.Lives lives) {
    var before = new NodeId("root", 1);
    var leaf = new NodeId("leaf", 1);
    var settings = new TreeNode.Settings(5, Retrieval.ONE_BY_ONE);
    var node = TreeNode.client(new NodeId("child", 1), settings, lives);
    node.on(new Event.Join(before, Locality.UNKNOWN));
    node.on(new Event.Received(before, new Message.Offer(before)));
    node.on(new Event.Received(before, new Message.Welcome()));
    node.on(new Event.Received(before, new Message.Kept(new TreeMap<>())));
    node.on(new Event.Received(leaf, new Message.Attach(Locality.UNKNOWN)));
    node.on(new Event.Received(leaf, new Message.Retrieve(OBJECT)));
    var with = new Upward(List.of(left), List.of());
    node.on(new Event.Received(before, new Message.Migrate(OBJECT, with)));
    node.on(new Event.Gone(leaf));
    assertTrue(node.owns(OBJECT));
    node.on(new Event.Gone(before));
    return node;
  }

  private static List<Effect> returns(TreeNode node) {
    return node.on(new Event.Join(new NodeId("root", 2), Locality.UNKNOWN));
  }

  @Test
  void aChildDoesNotClaimAnObjectThatWasNeverConstructed() {
    var node = childWith(new Copy(OBJECT, new CopyVersion(1, 0), new byte[0]));
    var nothing = new Message.Return(Upward.NOTHING, new TreeMap<>());
    assertEquals(List.of(new Effect.Send(new NodeId("root", 2), nothing)), returns(node));
    assertFalse(node.owns(OBJECT));
  }

  @Test
  void aChildDoesNotClaimAnObjectThatDoesNotExistInALaterLife() {
    for (long number = 0; number < 2; number++) {
      var node = childWith(absent(OBJECT, new CopyVersion(1, number), 4), LIVES);
      var nothing = new Message.Return(Upward.NOTHING, new TreeMap<>());
      assertEquals(List.of(new Effect.Send(new NodeId("root", 2), nothing)), returns(node));
      assertFalse(node.owns(OBJECT));
    }
  }

  @Test
  void aChildClaimsAnObjectThatWasConstructed() {
    var node = childWith(copy(OBJECT, 2));
    assertTrue(node.owns(OBJECT));
    assertTrue(
        returns(node).getFirst() instanceof Effect.Send(_, Message.Return back)
            && back.has().containsKey(OBJECT));
  }

  @Test
  void aChildIsGivenUpWhenNobodyNamesAnObjectOfItsMessages() {
    says(child, with(5));
    stored(OBJECT, 3);
    var copies = new Upward(List.of(copy(OTHER, 1)), List.of());
    var unnamed = new Message.CopyUp(child, 1, new TreeSet<>(List.of(OTHER)), copies);
    assertTrue(says(child, unnamed).contains(new Effect.Load(OTHER)));
    var cut = new Effect.Cut(child);
    assertFalse(root.on(new Event.NoReturns()).contains(cut), "it has just been asked for");
    assertTrue(root.on(new Event.NoReturns()).contains(cut));
    root.on(new Event.Gone(child));
    assertEquals(List.of(), List.copyOf(root.below()));
    assertFalse(root.on(new Event.NoReturns()).contains(cut));
  }

  private static Copy living(StreamId object, CopyVersion version, int life) {
    return new Copy(object, version, new byte[] {(byte) life, 1});
  }

  private static Copy absent(StreamId object, CopyVersion version, int life) {
    return new Copy(object, version, new byte[] {(byte) life});
  }

  private TreeNode rootOfLives() {
    return TreeNode.root(
        new NodeId("root", 2),
        new TreeNode.Settings(5, Retrieval.ONE_BY_ONE),
        OLDEST,
        new TreeSet<>(List.of(child, second)),
        LIVES);
  }

  /* A child that has returned sends a copy of a node below, and then the root loads the object. */
  private void assertStays(Copy old, Copy stored) {
    var next = rootOfLives();
    var nothing = new Message.Return(Upward.NOTHING, new TreeMap<>());
    next.on(new Event.Received(child, nothing));
    var with = new Upward(List.of(old), List.of());
    var up = new Message.CopyUp(child, 1, new TreeSet<>(List.of(OTHER)), with);
    next.on(new Event.Received(child, up));
    next.on(new Event.Received(child, new Message.Retrieve(OTHER)));
    next.on(new Event.Loaded(OTHER, stored.version(), stored.state()));
    next.on(new Event.Received(child, up));
    assertEquals(List.of(), next.unread(child));
    assertEquals(stored, next.copy(OTHER));
  }

  @Test
  void anOldCopyBelowAChildDoesNotReplaceWhatTheServerHasMadeSince() {
    Copy old = living(OTHER, new CopyVersion(1, 2), 2);
    assertStays(old, absent(OTHER, CopyVersion.NONE, 7));
    assertStays(old, living(OTHER, CopyVersion.NONE, 7));
  }

  @Test
  void anOldCopyBelowAChildDoesNotReplaceAnObjectThatWasMadeAnewAndLent() {
    assertStays(living(OTHER, new CopyVersion(1, 2), 2), living(OTHER, new CopyVersion(0, 1), 7));
  }

  @Test
  void theCopyOfAnObjectThatDidNotExistDoesNotReplaceWhatTheServerHasMadeOfIt() {
    for (int life : new int[] {1, 4}) {
      assertStays(
          absent(OTHER, new CopyVersion(1, 0), life), living(OTHER, CopyVersion.NONE, life));
    }
  }

  @Test
  void aChildIsRefusedThatHasAnObjectInAnEarlierLife() {
    var next = rootOfLives();
    SortedMap<StreamId, CopyVersion> has = new TreeMap<>();
    has.put(OBJECT, new CopyVersion(1, 3));
    var copies = new Upward(List.of(living(OBJECT, new CopyVersion(1, 3), 2)), List.of());
    next.on(new Event.Received(child, new Message.Return(copies, has)));
    Copy stored = living(OBJECT, new CopyVersion(0, 1), 7);
    var effects = next.on(new Event.Loaded(OBJECT, stored.version(), stored.state()));
    assertEquals(List.of(new Effect.Cut(child)), effects);
    assertTrue(next.owns(OBJECT));
    assertEquals(stored, next.copy(OBJECT));
  }

  @Test
  void aChildStaysWhenItsObjectsAreNamedInTime() {
    says(child, with(5));
    stored(OBJECT, 3);
    var copies = new Upward(List.of(copy(OTHER, 1)), List.of());
    says(child, new Message.CopyUp(child, 1, new TreeSet<>(List.of(OTHER)), copies));
    root.on(new Event.NoReturns());
    root.on(new Event.Loaded(OTHER, null, new byte[0]));
    assertFalse(root.on(new Event.NoReturns()).contains(new Effect.Cut(child)));
    assertEquals(List.of(), root.unread(child));
    assertEquals(List.of(child), List.copyOf(root.below()));
  }
}
