package stoa.stacksync;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/// The rules of [CommitInfo], row by row, in each design, and in the papers' form.
@ParameterizedClass
@EnumSource
class CommitRulesTest {
  private static final UUID OWNER = new UUID(1, 1);
  private static final UUID MEMBER = new UUID(1, 2);
  private static final UUID STRANGER = new UUID(1, 3);
  private static final UUID LAPTOP = new UUID(2, 1);
  private static final UUID PHONE = new UUID(2, 2);
  private static final UUID TABLET = new UUID(2, 3);
  private static final UUID HOME = new UUID(3, 1);
  private static final UUID ARCHIVE = new UUID(3, 2);
  private static final long ITEM = 7;

  @TempDir private static Path folder;

  private final ServiceObjects objects;
  private final SyncService service;

  CommitRulesTest(ServiceObjects.Form form) {
    objects = form.open(folder);
    service = objects.service();
  }

  @AfterEach
  void close() {
    objects.close();
  }

  @BeforeEach
  void addPeople() {
    objects.run(() -> {
      service.addUser(OWNER, "Olga", "olga@example.org", 1_000);
      service.addUser(MEMBER, "Max", "max@example.org", 1_000);
      service.addUser(STRANGER, "Sven", "sven@example.org", 1_000);
      service.addDevice(OWNER, new Device(LAPTOP, "laptop", "Linux"));
      service.addDevice(MEMBER, new Device(PHONE, "phone", "Android"));
      service.addDevice(STRANGER, new Device(TABLET, "tablet", "iOS"));
      service.addWorkspace(OWNER, HOME, "home");
      service.addWorkspace(OWNER, ARCHIVE, "archive");
      service.shareWorkspace(OWNER, HOME, MEMBER);
    });
  }

  @Test
  void anUnknownItemBeginsWithVersionOne() {
    assertEquals(committed(1), commit(change(1, "a", 10)));
    assertEquals(1, newest().version());
    assertEquals(10, usedBytes(OWNER));
  }

  @Test
  void anUnknownItemCannotBeginWithALaterVersion() {
    assertEquals(new CommitInfo.UnknownItem(ITEM, 2), commit(change(2, "a", 10)));
    assertTrue(state(HOME).isEmpty());
    assertEquals(0, usedBytes(OWNER));
  }

  @Test
  void theNextVersionIsCommittedWhateverItDoes() {
    commit(change(1, "a", 10));
    int version = 2;
    for (var status : List.of(Status.CHANGED, Status.RENAMED, Status.MOVED, Status.DELETED)) {
      var next = change(version, status, "name-" + status, 20);
      assertEquals(committed(version), commit(next));
      assertEquals(next.metadata(), newest().metadata());
      version++;
    }
  }

  @Test
  void theNewestVersionAgainIsRecognised() {
    var change = change(1, "a", 10);
    commit(change);
    var before = newest();
    assertEquals(new CommitInfo.Repeated(ITEM, 1, before), commit(change));
    assertEquals(before, newest());
    assertEquals(10, usedBytes(OWNER));
  }

  @Test
  void anOlderVersionAgainIsRecognisedAndAnsweredWithTheNewest() {
    var first = change(1, "a", 10);
    commit(first);
    commit(change(2, "b", 30));
    assertEquals(new CommitInfo.Repeated(ITEM, 1, newest()), commit(first));
    assertEquals(30, usedBytes(OWNER));
  }

  @Test
  void anotherContentForTheNewestVersionIsRefusedWithTheNewest() {
    commit(change(1, "a", 10));
    var before = newest();
    assertEquals(new CommitInfo.WrongVersion(ITEM, 1, before), commit(change(1, "b", 10)));
    assertEquals(before, newest());
  }

  @Test
  void anotherContentForAnOlderVersionIsRefusedWithTheNewest() {
    commit(change(1, "a", 10));
    commit(change(2, "b", 20));
    var before = newest();
    assertEquals(new CommitInfo.WrongVersion(ITEM, 1, before), commit(change(1, "c", 10)));
    assertEquals(before, newest());
    assertEquals(20, usedBytes(OWNER));
  }

  @Test
  void aVersionBeyondTheNextIsRefusedWithTheNewest() {
    commit(change(1, "a", 10));
    assertEquals(new CommitInfo.WrongVersion(ITEM, 3, newest()), commit(change(3, "b", 10)));
  }

  @Test
  void aRefusedChangeLeavesTheOthersOfItsRequestBe() {
    commit(change(1, "a", 10));
    var answers =
        commitAll(
            HOME,
            List.of(
                new ItemChange(1, 1, metadata(Status.NEW, "one", 1)),
                change(5, "b", 10),
                new ItemChange(2, 1, metadata(Status.NEW, "two", 2))));
    assertEquals(
        List.of(
            new CommitInfo.Committed(1, 1),
            new CommitInfo.WrongVersion(ITEM, 5, newest()),
            new CommitInfo.Committed(2, 1)),
        answers);
    assertEquals(13, usedBytes(OWNER));
  }

  @Test
  void aRequestNamesAnItemOnce() {
    var twice = List.of(change(1, "a", 10), change(2, "b", 10));
    assertThrows(IllegalArgumentException.class, () -> commitAll(HOME, twice));
    assertTrue(state(HOME).isEmpty());
  }

  @Test
  void theOwnerIsChargedForWhatAMemberCommits() {
    objects.call(() -> service.doCommit(MEMBER, PHONE, HOME, List.of(change(1, "a", 10))));
    assertEquals(10, usedBytes(OWNER));
    assertEquals(0, usedBytes(MEMBER));
    assertEquals(PHONE, newest().device());
  }

  @Test
  void aDeletedItemTakesNoSpace() {
    commit(change(1, "a", 10));
    commit(change(2, Status.DELETED, "a", 10));
    assertEquals(0, usedBytes(OWNER));
  }

  @Test
  void whatExceedsTheQuotaIsRefusedAndWhatFitsIsNot() {
    var answers =
        commitAll(
            HOME,
            List.of(
                new ItemChange(1, 1, metadata(Status.NEW, "one", 600)),
                new ItemChange(2, 1, metadata(Status.NEW, "two", 600)),
                new ItemChange(3, 1, metadata(Status.NEW, "three", 400))));
    assertEquals(
        List.of(
            new CommitInfo.Committed(1, 1),
            new CommitInfo.OverQuota(2, 1, new Quota(1_000, 1_000)),
            new CommitInfo.Committed(3, 1)),
        answers);
    assertEquals(List.of(1L, 3L), state(HOME).stream().map(ItemState::item).toList());
  }

  @Test
  void aFullQuotaAllowsWhatTakesLess() {
    commit(change(1, "a", 1_000));
    assertInstanceOf(CommitInfo.OverQuota.class, commit(change(2, "b", 1_001)));
    assertEquals(committed(2), commit(change(2, "b", 999)));
    assertEquals(999, usedBytes(OWNER));
  }

  @Test
  void theUsedSizeNeverFallsBelowZero() {
    assertEquals(new Quota(100, 0), new Quota(100, 30).plus(-50));
  }

  @Test
  void onlyMembersCommit() {
    var changes = List.of(change(1, "a", 10));
    assertThrows(
        NotPermitted.class,
        () -> objects.call(() -> service.doCommit(STRANGER, TABLET, HOME, changes)));
    objects.run(() -> service.unshareWorkspace(OWNER, HOME, MEMBER));
    assertThrows(
        NotPermitted.class,
        () -> objects.call(() -> service.doCommit(MEMBER, PHONE, HOME, changes)));
    assertTrue(state(HOME).isEmpty());
  }

  @Test
  void aDeviceServesItsUserOnly() {
    assertThrows(
        NotPermitted.class,
        () -> objects.call(() -> service.doCommit(MEMBER, LAPTOP, HOME, List.of())));
  }

  @Test
  void unknownNamesAreMisuse() {
    var unknown = new UUID(9, 9);
    var nothing = List.<ItemChange>of();
    var requests =
        List.<Runnable>of(
            () -> service.doCommit(OWNER, unknown, HOME, nothing),
            () -> service.doCommit(OWNER, LAPTOP, unknown, nothing),
            () -> service.addWorkspace(unknown, new UUID(3, 9), "x"),
            () -> service.shareWorkspace(OWNER, HOME, unknown),
            () -> service.addDevice(unknown, new Device(new UUID(2, 9), "x", "x")),
            () -> service.listWorkspaces(unknown));
    for (var request : requests) {
      var refusal = assertThrows(NotFound.class, () -> objects.run(request));
      assertTrue(String.valueOf(refusal.getMessage()).contains(unknown.toString()));
    }
  }

  @Test
  void onlyTheOwnerShares() {
    assertThrows(
        NotPermitted.class,
        () -> objects.run(() -> service.shareWorkspace(MEMBER, HOME, STRANGER)));
    assertThrows(
        NotPermitted.class, () -> objects.run(() -> service.unshareWorkspace(OWNER, HOME, OWNER)));
  }

  @Test
  void takenIdsAndAddressesAreRefused() {
    assertThrows(
        NotPermitted.class, () -> objects.run(() -> service.addWorkspace(MEMBER, HOME, "mine")));
    assertThrows(
        NotPermitted.class,
        () -> objects.run(() -> service.addUser(new UUID(1, 9), "x", "olga@example.org", 1)));
    assertThrows(
        NotPermitted.class,
        () -> objects.run(() -> service.addDevice(MEMBER, new Device(LAPTOP, "x", "x"))));
  }

  @Test
  void addingAgainChangesNothing() {
    commit(change(1, "a", 10));
    var before = objects.call(() -> service.account(OWNER));
    assertEquals(false, objects.call(() -> service.addUser(OWNER, "O", "o@example.org", 5)));
    assertEquals(false, objects.call(() -> service.addWorkspace(OWNER, HOME, "again")));
    objects.run(() -> service.shareWorkspace(OWNER, HOME, MEMBER));
    assertEquals(before, objects.call(() -> service.account(OWNER)));
    assertEquals(
        List.of(
            new WorkspaceInfo(HOME, "home", OWNER, 2, 1),
            new WorkspaceInfo(ARCHIVE, "archive", OWNER, 1, 0)),
        objects.call(() -> service.listWorkspaces(OWNER)));
  }

  @Test
  void changesAreListedInPages() {
    for (long item = 1; item <= 5; item++) {
      commitAll(HOME, List.of(new ItemChange(item, 1, metadata(Status.NEW, "f" + item, 1))));
    }
    assertEquals(List.of(1L, 2L), page(Long.MIN_VALUE));
    assertEquals(List.of(3L, 4L), page(2));
    assertEquals(List.of(5L), page(4));
    assertEquals(List.of(), page(5));
  }

  @Test
  void aMovedItemTakesItsVersionsAlong() {
    commit(change(1, "a", 10));
    commit(change(2, "b", 20));
    var move = change(3, Status.MOVED, "c", 20);
    assertEquals(List.of(committed(3)), move(move));
    assertTrue(state(HOME).isEmpty());
    var item = objects.call(() -> objects.items(ARCHIVE)).getFirst();
    assertEquals(
        List.of("a", "b", "c"), item.versions().stream().map(v -> v.metadata().name()).toList());
    assertEquals(20, usedBytes(OWNER));
  }

  @Test
  void aMoveThatWasAnsweredIsRecognised() {
    commit(change(1, "a", 10));
    var move = change(2, Status.MOVED, "a", 10);
    move(move);
    var current = state(ARCHIVE).getFirst().latest();
    assertEquals(List.of(new CommitInfo.Repeated(ITEM, 2, current)), move(move));
    assertEquals(10, usedBytes(OWNER));
  }

  @Test
  void aMoveOfAnOldVersionLeavesTheItemWhereItIs() {
    commit(change(1, "a", 10));
    commit(change(2, "b", 10));
    var current = newest();
    assertEquals(
        List.of(new CommitInfo.WrongVersion(ITEM, 2, current)),
        move(change(2, Status.MOVED, "a", 10)));
    assertEquals(current, newest());
    assertTrue(state(ARCHIVE).isEmpty());
  }

  @Test
  void aMoveOfAnItemThatIsNowhereIsRefused() {
    assertEquals(
        List.of(new CommitInfo.UnknownItem(ITEM, 2)), move(change(2, Status.MOVED, "a", 10)));
  }

  @Test
  void aMoveForWhichTheNewOwnerHasNoRoomIsUndone() {
    var full = new UUID(3, 3);
    objects.run(() -> {
      service.addWorkspace(MEMBER, full, "full");
      service.shareWorkspace(MEMBER, full, OWNER);
      service.doCommit(
          MEMBER, PHONE, full, List.of(new ItemChange(1, 1, metadata(Status.NEW, "f", 995))));
    });
    commit(change(1, "a", 10));
    var current = newest();
    assertEquals(
        List.of(new CommitInfo.OverQuota(ITEM, 2, new Quota(1_000, 995))),
        objects.call(() ->
            service.moveItems(
                OWNER, LAPTOP, HOME, full, List.of(change(2, Status.MOVED, "a", 10)))));
    assertEquals(current, newest());
    assertEquals(10, usedBytes(OWNER));
    assertEquals(995, usedBytes(MEMBER));
  }

  @Test
  void anItemMovesBetweenOwners() {
    var other = new UUID(3, 3);
    objects.run(() -> {
      service.addWorkspace(MEMBER, other, "other");
      service.shareWorkspace(MEMBER, other, OWNER);
    });
    commit(change(1, "a", 10));
    objects.call(() ->
        service.moveItems(OWNER, LAPTOP, HOME, other, List.of(change(2, Status.MOVED, "a", 15))));
    assertEquals(0, usedBytes(OWNER));
    assertEquals(15, usedBytes(MEMBER));
  }

  @Test
  void aMoveNeedsMembershipInBothWorkspaces() {
    commit(change(1, "a", 10));
    var changes = List.of(change(2, Status.MOVED, "a", 10));
    assertThrows(
        NotPermitted.class,
        () -> objects.call(() -> service.moveItems(MEMBER, PHONE, HOME, ARCHIVE, changes)));
    assertThrows(
        NotPermitted.class,
        () -> objects.call(() -> service.moveItems(MEMBER, PHONE, ARCHIVE, HOME, changes)));
    assertEquals(1, newest().version());
  }

  @Test
  void anItemIdThatTheTargetHasAlreadyIsMisuseAndLosesNothing() {
    commit(change(1, "a", 10));
    commitAll(ARCHIVE, List.of(change(1, "other", 5)));
    assertThrows(IllegalArgumentException.class, () -> move(change(2, Status.MOVED, "a", 10)));
    assertEquals(1, newest().version());
    assertEquals(15, usedBytes(OWNER));
  }

  @Test
  void aRequestCreatesAFolderWithWhatLiesInIt() {
    var answers =
        commitAll(
            HOME,
            List.of(
                folder(1, 1, Status.NEW, Metadata.ROOT),
                folder(2, 1, Status.NEW, 1),
                new ItemChange(3, 1, file(Status.NEW, 2, "three", 30)),
                new ItemChange(4, 1, file(Status.NEW, Metadata.ROOT, "four", 40))));
    assertEquals(4, answers.stream().filter(CommitInfo.Committed.class::isInstance).count());
    assertEquals("[1[2[3[]]], 4[]]", tree(Metadata.ROOT));
    assertEquals("[3[]]", tree(2));
    assertThrows(NotFound.class, () -> tree(4));
    assertThrows(
        IllegalArgumentException.class,
        () -> objects.call(() -> service.listTree(MEMBER, HOME, Metadata.ROOT, 3)));
  }

  @Test
  void anItemLiesInAFolderThatIsThere() {
    commit(change(1, "a", 10));
    var missing = new ItemChange(1, 1, file(Status.NEW, 99, "one", 1));
    assertEquals(new CommitInfo.NoFolder(1, 1, 99), commit(missing));
    var inAFile = new ItemChange(1, 1, file(Status.NEW, ITEM, "one", 1));
    assertEquals(new CommitInfo.NoFolder(1, 1, ITEM), commit(inAFile));
    commit(folder(2, 1, Status.NEW, Metadata.ROOT));
    commit(folder(2, 2, Status.DELETED, Metadata.ROOT));
    var inADeleted = new ItemChange(1, 1, file(Status.NEW, 2, "one", 1));
    assertEquals(new CommitInfo.NoFolder(1, 1, 2), commit(inADeleted));
    assertEquals(10, usedBytes(OWNER));
  }

  @Test
  void aFolderIsDeletedWhenItIsEmpty() {
    commit(folder(1, 1, Status.NEW, Metadata.ROOT));
    commit(new ItemChange(2, 1, file(Status.NEW, 1, "two", 10)));
    var delete = folder(1, 2, Status.DELETED, Metadata.ROOT);
    assertEquals(new CommitInfo.FolderInUse(1, 2), commit(delete));
    var emptied = new ItemChange(2, 2, file(Status.MOVED, Metadata.ROOT, "two", 10));
    assertEquals(
        List.of(new CommitInfo.Committed(2, 2), new CommitInfo.Committed(1, 2)),
        commitAll(HOME, List.of(emptied, delete)));
    assertEquals("[2[]]", tree(Metadata.ROOT));
  }

  @Test
  void aFileThatHasNoRoomElsewhereKeepsItsFolder() {
    commit(folder(1, 1, Status.NEW, Metadata.ROOT));
    commit(new ItemChange(2, 1, file(Status.NEW, 1, "two", 10)));
    var grown = new ItemChange(2, 2, file(Status.MOVED, Metadata.ROOT, "two", 2_000));
    assertEquals(
        List.of(
            new CommitInfo.OverQuota(2, 2, new Quota(1_000, 10)), new CommitInfo.FolderInUse(1, 2)),
        commitAll(HOME, List.of(grown, folder(1, 2, Status.DELETED, Metadata.ROOT))));
    assertEquals("[1[2[]]]", tree(Metadata.ROOT));
  }

  @Test
  void aFolderDoesNotMoveIntoItself() {
    commitAll(
        HOME,
        List.of(
            folder(1, 1, Status.NEW, Metadata.ROOT),
            folder(2, 1, Status.NEW, 1),
            folder(3, 1, Status.NEW, 2)));
    assertEquals(new CommitInfo.NoFolder(1, 2, 3), commit(folder(1, 2, Status.MOVED, 3)));
    assertEquals(new CommitInfo.NoFolder(1, 2, 1), commit(folder(1, 2, Status.MOVED, 1)));
    assertEquals(
        List.of(new CommitInfo.Committed(3, 2), new CommitInfo.Committed(1, 2)),
        commitAll(
            HOME,
            List.of(folder(3, 2, Status.MOVED, Metadata.ROOT), folder(1, 2, Status.MOVED, 3))));
    assertEquals("[3[1[2[]]]]", tree(Metadata.ROOT));
  }

  @Test
  void aFolderStaysAFolder() {
    commit(folder(1, 1, Status.NEW, Metadata.ROOT));
    var file = new ItemChange(1, 2, file(Status.CHANGED, Metadata.ROOT, "one", 1));
    assertThrows(IllegalArgumentException.class, () -> commit(file));
    assertThrows(
        IllegalArgumentException.class,
        () ->
            objects.call(() ->
                service.moveItems(
                    OWNER,
                    LAPTOP,
                    HOME,
                    ARCHIVE,
                    List.of(folder(1, 2, Status.MOVED, Metadata.ROOT)))));
    assertEquals("[1[]]", tree(Metadata.ROOT));
  }

  @Test
  void aFileMovesIntoAFolderOfAnotherWorkspace() {
    commit(folder(1, 1, Status.NEW, Metadata.ROOT));
    commit(new ItemChange(2, 1, file(Status.NEW, 1, "two", 10)));
    commitAll(ARCHIVE, List.of(folder(3, 1, Status.NEW, Metadata.ROOT)));
    var nowhere = new ItemChange(2, 2, file(Status.MOVED, 1, "two", 10));
    assertEquals(List.of(new CommitInfo.NoFolder(2, 2, 1)), move(nowhere));
    assertEquals("[1[2[]]]", tree(Metadata.ROOT));
    var there = new ItemChange(2, 2, file(Status.MOVED, 3, "two", 10));
    assertEquals(List.of(new CommitInfo.Committed(2, 2)), move(there));
    assertEquals("[1[]]", tree(Metadata.ROOT));
    assertEquals(10, usedBytes(OWNER));
    assertEquals(
        new CommitInfo.Committed(1, 2), commit(folder(1, 2, Status.DELETED, Metadata.ROOT)));
  }

  private String tree(long folder) {
    return text(objects.call(() -> service.listTree(MEMBER, HOME, folder, 100)));
  }

  private static String text(List<ItemTree> trees) {
    return trees.stream()
        .map(tree -> tree.item().item() + text(tree.children()))
        .toList()
        .toString();
  }

  private List<CommitInfo> move(ItemChange change) {
    return objects.call(() -> service.moveItems(OWNER, LAPTOP, HOME, ARCHIVE, List.of(change)));
  }

  private CommitInfo commit(ItemChange change) {
    return commitAll(HOME, List.of(change)).getFirst();
  }

  private List<CommitInfo> commitAll(UUID workspace, List<ItemChange> changes) {
    return objects.call(() -> service.doCommit(OWNER, LAPTOP, workspace, changes));
  }

  private List<Long> page(long afterItem) {
    return objects.call(() -> service.listChanges(MEMBER, HOME, afterItem, 2)).stream()
        .map(ItemState::item)
        .toList();
  }

  private List<ItemState> state(UUID workspace) {
    return objects.call(() -> service.listChanges(OWNER, workspace, Long.MIN_VALUE, 100));
  }

  private ItemVersion newest() {
    return state(HOME).stream()
        .filter(state -> state.item() == ITEM)
        .findFirst()
        .orElseThrow()
        .latest();
  }

  private long usedBytes(UUID user) {
    return objects.call(() -> service.account(user)).orElseThrow().quota().usedBytes();
  }

  private static CommitInfo committed(int version) {
    return new CommitInfo.Committed(ITEM, version);
  }

  private static ItemChange change(int version, String path, long size) {
    return change(version, version == 1 ? Status.NEW : Status.CHANGED, path, size);
  }

  private static ItemChange change(int version, Status status, String path, long size) {
    return new ItemChange(ITEM, version, metadata(status, path, size));
  }

  private static Metadata metadata(Status status, String name, long size) {
    return file(status, Metadata.ROOT, name, size);
  }

  private static Metadata file(Status status, long parent, String name, long size) {
    return new Metadata(
        status,
        parent,
        name,
        false,
        "text/plain",
        size,
        name.hashCode(),
        List.of(new Chunk(name)),
        Instant.EPOCH);
  }

  private static ItemChange folder(long item, int version, Status status, long parent) {
    return new ItemChange(
        item, version, Metadata.folder(status, parent, "folder " + item, Instant.EPOCH));
  }
}
