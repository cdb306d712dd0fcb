package stoa.raft.core;

import io.microraft.MembershipChangeMode;
import io.microraft.RaftEndpoint;
import io.microraft.model.groupop.UpdateRaftGroupMembersOp;
import io.microraft.model.log.LogEntry;
import io.microraft.model.log.RaftGroupMembersView;
import io.microraft.model.log.SnapshotChunk;
import io.microraft.model.persistence.RaftEndpointPersistentState;
import io.microraft.model.persistence.RaftTermPersistentState;
import io.microraft.persistence.RaftStore;
import io.microraft.persistence.RestoredRaftState;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.Unavailable;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.log.ReplicaLog;
import stoa.raft.Member;
import stoa.storage.Device;
import stoa.storage.disk.Disk;

/// The log of one member of a group: entries, the term with its vote, and the position before the
/// first entry, which the member's replica has durably. One owner: the core.
///
/// At the first failure the store stops its member: it writes nothing any more, and every later
/// call throws. An append that is repeated after a failed sync would otherwise be acknowledged
/// without being durable.
public final class LogStore implements RaftStore, AutoCloseable {
  private final LogMedium medium;
  private final Member self;
  private @Nullable IOException failure;
  private LogHead head;

  // The entries from the first index on that MicroRaft may still have.
  private final ArrayList<RaftEntry> items = new ArrayList<>();

  // The positions of the entries before those, as far as an opened log knows them.
  private final ArrayList<Position> earlier;

  private long bytes;

  /// Returns whether a disk has a log.
  ///
  /// @throws IOException when it cannot be read
  public static boolean exists(Disk disk) throws IOException {
    return LogFiles.exists(disk);
  }

  /// Opens the log on a disk, or begins one.
  ///
  /// @param self this member
  /// @param begin where a new log begins: the position of the replica
  /// @param first the members at that position; none for a member that waits to be added
  /// @param fileBytesMax the size after which a file is followed by another one
  /// @throws Corrupt when the log is damaged
  /// @throws IOException when the disk fails
  public static LogStore open(
      Disk disk, Member self, Position begin, Collection<Member> first, long fileBytesMax)
      throws IOException {
    Disk.Hold hold = disk.hold();
    try {
      LogMedium.Contents found = LogFiles.find(disk);
      if (found == null) found = fresh(self, begin, first);
      return new LogStore(new LogFiles(disk, hold, found, fileBytesMax), self, found);
    } catch (IOException | RuntimeException e) {
      hold.close();
      throw e;
    }
  }

  /// Opens the log on the device of a replica, or begins one.
  ///
  /// @param self this member
  /// @param begin where a new log begins: the position of the replica
  /// @param first the members at that position; none for a member that waits to be added
  /// @throws Corrupt when the log is damaged
  /// @throws IOException when the disk fails
  public static LogStore open(ReplicaLog log, Member self, Position begin, Collection<Member> first)
      throws IOException {
    LogMedium.Contents found = DeviceLog.find(log);
    if (found == null) found = fresh(self, begin, first);
    var medium = new DeviceLog(log);
    medium.head(found.head());
    medium.flush(found.head());
    return new LogStore(medium, self, found);
  }

  /// Lets the device of a replica, which is not open, have a new log, durably. It does nothing when
  /// the device has one.
  ///
  /// @throws stoa.storage.disk.StorageException when the device fails
  public static void begin(Device device) {
    if (!ReplicaLog.isOn(device)) ReplicaLog.begin(device);
  }

  /// Moves the log on a disk to the device of its replica, which is not open, durably. It deletes
  /// the files, also those that come back after a crash. Without files the device gets a new log.
  ///
  /// @throws Corrupt when the log is damaged
  /// @throws Unavailable when there are files, and the log of the device did not begin in them
  /// @throws IOException when the disk fails
  /// @throws stoa.storage.disk.StorageException when the device fails
  public static void move(Disk disk, Device device) throws IOException {
    try (Disk.Hold _ = disk.hold()) {
      if (LogFiles.exists(disk) && ReplicaLog.isOn(device) && ReplicaLog.hasBegunOn(device)) {
        throw new Unavailable(
            "it has a log, and its replica began without one; if the directory was missing then,"
                + " drain this server, and start a new one in an empty directory");
      }
      if (!ReplicaLog.isOn(device)) {
        LogMedium.Contents found = LogFiles.find(disk);
        if (found == null) begin(device);
        else DeviceLog.begin(device, found);
      }
      LogFiles.delete(disk);
    }
  }

  /// Applies everything in a log to a replica, also what is not known to be committed: most of it
  /// was. It applies nothing when the member does not vote.
  ///
  /// @param id of the member
  /// @return whether the member votes, as far as its log knows
  /// @throws Corrupt when the log is damaged
  /// @throws IOException when the disk fails
  public static boolean replay(Disk disk, String id, Replica replica) throws IOException {
    LogMedium.Contents found = LogFiles.find(disk);
    return found != null && replay(found, id, replica);
  }

  /// Applies everything in the log on the device of a replica, as [#replay(Disk, String, Replica)]
  /// does.
  ///
  /// @param id of the member
  /// @return whether the member votes, as far as its log knows
  /// @throws Corrupt when the log is damaged
  public static boolean replay(ReplicaLog log, String id, Replica replica) {
    LogMedium.Contents found = DeviceLog.find(log);
    return found != null && replay(found, id, replica);
  }

  private static boolean replay(LogMedium.Contents found, String id, Replica replica) {
    if (!votes(found, id)) return false;
    for (RaftEntry item : found.items()) {
      var at = new Position(item.term(), item.index());
      if (item.operation() instanceof Payload.Command(_, byte[] bytes)) {
        var _ = replica.apply(at, bytes);
      } else {
        replica.advance(at);
      }
    }
    return true;
  }

  private static boolean votes(LogMedium.Contents found, String id) {
    Collection<RaftEndpoint> voting = found.head().members().getVotingMembers();
    for (RaftEntry item : found.items()) {
      if (!(item.operation() instanceof UpdateRaftGroupMembersOp change)) continue;
      // A member in removal is one until the removal is committed.
      boolean removed =
          change.getMode() == MembershipChangeMode.REMOVE_MEMBER
              && change.getEndpoint().getId().equals(id);
      if (!removed) voting = change.getVotingMembers();
    }
    return voting.stream().anyMatch(member -> member.getId().equals(id));
  }

  private static LogMedium.Contents fresh(Member self, Position begin, Collection<Member> first) {
    List<RaftEndpoint> all = first.stream().<RaftEndpoint>map(Endpoint::new).toList();
    boolean voting = all.contains(new Endpoint(self));
    // A member that waits to be added has no position that others know.
    Position position = all.isEmpty() ? Position.START : begin;
    var head =
        new LogHead(
            Math.toIntExact(position.term()),
            null,
            voting,
            all.isEmpty() ? 0 : position.index(),
            position,
            all.isEmpty() ? Codec.nobody() : Codec.view(position.index(), all, all));
    return new LogMedium.Contents(head, List.of(), List.of());
  }

  private LogStore(LogMedium medium, Member self, LogMedium.Contents found) {
    this.medium = medium;
    this.self = self;
    this.head = found.head();
    this.earlier = new ArrayList<>(found.earlier());
    for (RaftEntry item : found.items()) add(item);
  }

  /// Returns how many files were written again.
  int reused() {
    return medium.reused();
  }

  private interface Work {
    void run() throws IOException;
  }

  private void work(Work work) throws IOException {
    if (failure != null) throw failure;
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      failure = e instanceof IOException io ? io : new IOException(e);
      throw failure;
    }
  }

  /// Returns the first failure; null when there was none.
  @Nullable IOException failure() {
    return failure;
  }

  @Override
  public void flush() throws IOException {
    work(this::flushed);
  }

  private void flushed() throws IOException {
    medium.flush(head);
  }

  // ---- as MicroRaft demands

  @Override
  public void persistAndFlushLocalEndpoint(RaftEndpointPersistentState state) throws IOException {
    work(() -> {
      if (head.voting() == state.isVoting()) return;
      head = head.withVoting(state.isVoting());
      medium.head(head);
      flushed();
    });
  }

  @Override
  public void persistAndFlushInitialGroupMembers(RaftGroupMembersView initial) {
    // Every member begins without members, so there is nothing to keep.
  }

  @Override
  public void persistAndFlushTerm(RaftTermPersistentState state) throws IOException {
    work(() -> {
      RaftEndpoint voted = state.getVotedFor();
      boolean same = LogHead.text(head.vote()).equals(LogHead.text(voted));
      if (head.term() == state.getTerm() && same) return;
      head = head.withTerm(state.getTerm(), voted);
      medium.term(head);
      flushed();
    });
  }

  @Override
  public void persistLogEntries(List<LogEntry> entries) throws IOException {
    work(() -> {
      for (LogEntry entry : entries) {
        medium.entry((RaftEntry) entry);
        add((RaftEntry) entry);
      }
    });
  }

  private void add(RaftEntry item) {
    items.add(item);
    bytes += item.bytes();
  }

  @Override
  public void truncateLogEntriesFrom(long index) throws IOException {
    work(() -> {
      while (!items.isEmpty() && items.getLast().index() >= index) {
        bytes -= items.removeLast().bytes();
      }
      medium.cut(index);
    });
  }

  @Override
  public void persistSnapshotChunk(SnapshotChunk chunk) throws IOException {
    // Its replica has synced.
    work(() -> {
      var to = new Position(chunk.getTerm(), chunk.getIndex());
      head = head.withPosition(to, chunk.getGroupMembersView());
      medium.position(head);
    });
  }

  @Override
  public void truncateLogEntriesUntil(long index) throws IOException {
    work(() -> {
      int dropped = 0;
      for (RaftEntry item : items) {
        if (item.index() > Math.min(index, head.position().index())) break;
        bytes -= item.bytes();
        dropped++;
      }
      items.subList(0, dropped).clear();
      earlier.removeIf(at -> at.index() <= Math.min(index, head.position().index()));
      medium.drop(head.position().index());
    });
  }

  @Override
  public void deleteSnapshotChunks(long index, int count) {
    // No member receives chunks: catch-up brings what a replica lacks.
  }

  // ---- beside MicroRaft

  /// Lets the log begin after a later position, which the replica has durably: MicroRaft begins
  /// again from here. Entries after it stay when they follow on it.
  void jump(Position to, RaftGroupMembersView view) throws IOException {
    work(() -> {
      boolean follows = termAt(to.index()) == to.term();
      if (!follows) {
        earlier.clear();
        items.clear();
        bytes = 0;
      }
      head = head.withPosition(to, view);
      if (follows) medium.position(head);
      else medium.positionAlone(head);
      head = head.withVoting(view.getVotingMembers().contains(new Endpoint(self)));
      if (head.term() < to.term()) head = head.withTerm(Math.toIntExact(to.term()), null);
      medium.head(head);
      flushed();
      truncateLogEntriesUntil(to.index());
    });
  }

  /// Returns whether this member has the log up to the entry that added it. A member that was
  /// removed and added again has lost its earlier log.
  boolean isJoined() {
    return head.addedAt() > 0 && lastIndex() >= head.addedAt();
  }

  /// Returns the index at which this member was added; 0 when that is unknown.
  long addedAt() {
    return head.addedAt();
  }

  /// Returns whether this member can have had the log up to an index since it was added last. A
  /// member that was removed and comes back has lost what it had before.
  public boolean isOfThisMembership(long index) {
    return head.addedAt() > 0 && index >= head.addedAt();
  }

  /// Records durably where this member was added, unless it has the log up to there already.
  void added(long index) throws IOException {
    work(() -> {
      if (isJoined() || index == head.addedAt()) return;
      head = head.withAddedAt(index);
      medium.head(head);
      flushed();
    });
  }

  /// Returns the term of the entry at an index; 0 when that is not known.
  int termAt(long index) {
    if (index == head.position().index()) return Math.toIntExact(head.position().term());
    if (!items.isEmpty() && index >= items.getFirst().index()) {
      long at = index - items.getFirst().index();
      return at >= items.size() ? 0 : items.get((int) at).term();
    }
    if (earlier.isEmpty()) return 0;
    long at = index - earlier.getFirst().index();
    return at < 0 || at >= earlier.size() ? 0 : Math.toIntExact(earlier.get((int) at).term());
  }

  /// Returns the position before the log.
  Position position() {
    return head.position();
  }

  /// Returns the index of the last entry, or of the position before the log.
  long lastIndex() {
    long begin = head.position().index();
    return items.isEmpty() ? begin : Math.max(begin, items.getLast().index());
  }

  /// Returns the index of the first entry that is still here.
  long firstIndex() {
    return items.isEmpty() ? head.position().index() + 1 : items.getFirst().index();
  }

  /// Returns about how many bytes its entries take in memory.
  long bytes() {
    return bytes;
  }

  /// Returns the members at the position before the log; none when this member waits to be added.
  RaftGroupMembersView members() {
    return head.members();
  }

  /// Returns the members that the log names, earlier ones too.
  public List<Member> known() {
    var all = new LinkedHashMap<String, Member>();
    add(head.members().getMembers(), all);
    for (RaftEntry item : items) {
      if (item.operation() instanceof UpdateRaftGroupMembersOp change)
        add(change.getMembers(), all);
    }
    all.remove(Endpoint.NOBODY.member().id());
    return List.copyOf(all.values());
  }

  private static void add(Collection<RaftEndpoint> some, Map<String, Member> all) {
    for (RaftEndpoint endpoint : some) {
      if (endpoint instanceof Endpoint(Member member)) all.put(member.id(), member);
    }
  }

  /// Returns the entries after the position before the log.
  List<RaftEntry> entries() {
    int from = 0;
    while (from < items.size() && items.get(from).index() <= head.position().index()) from++;
    return items.subList(from, items.size());
  }

  /// Returns what MicroRaft begins with.
  RestoredRaftState restored() {
    Position position = head.position();
    RaftGroupMembersView members = head.members();
    var chunk =
        Models.ALL
            .createSnapshotChunkBuilder()
            .setIndex(position.index())
            .setTerm(Math.toIntExact(position.term()))
            .setOperation(position)
            .setSnapshotChunkIndex(0)
            .setSnapshotChunkCount(1)
            .setGroupMembersView(members)
            .build();
    var snapshot =
        position.index() == 0
            ? null
            : Models.ALL
                .createSnapshotEntryBuilder()
                .setIndex(position.index())
                .setTerm(Math.toIntExact(position.term()))
                .setSnapshotChunks(List.of(chunk))
                .setGroupMembersView(members)
                .build();
    var here = new Endpoint(self);
    // MicroRaft cannot promote a member while it restores it.
    boolean votes = head.voting() || members.getVotingMembers().contains(here);
    return new RestoredRaftState(
        Models.ALL
            .createRaftEndpointPersistentStateBuilder()
            .setLocalEndpoint(here)
            .setVoting(votes)
            .build(),
        Codec.nobody(),
        Models.ALL
            .createRaftTermPersistentStateBuilder()
            .setTerm(head.term())
            .setVotedFor(head.vote())
            .build(),
        snapshot,
        new ArrayList<LogEntry>(entries()));
  }

  @Override
  public void close() {
    medium.close();
  }
}
