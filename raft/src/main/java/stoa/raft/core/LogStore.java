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
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.raft.Member;
import stoa.storage.disk.Disk;
import stoa.storage.disk.DiskFile;
import stoa.storage.disk.DiskFull;

/// The log of one member of a group: entries, the term with its vote, and the position before the
/// first entry, which the member's replica has durably. One owner: the core.
///
/// At the first failure the store stops its member: it writes nothing any more, and every later
/// call throws. An append that is repeated after a failed sync would otherwise be acknowledged
/// without being durable.
public final class LogStore implements RaftStore, AutoCloseable {
  /*
   * Files log-N, numbered from 1 and ascending; the records follow on across them. A file:
   *
   *   "STOARAFT" i64, version i64, N i64, and the length i64 of the file before; 0 when this one needs none
   *   records: length of the body i32, CRC-32C i32, body
   *
   * The CRC is that of N, 8 bytes, and the body; in a file of version 1, that of the body alone.
   *
   *   body    kind u8, then
   *   1       state: term varint, vote text (empty for none), voting u8, index varint at which this member was
   *           added (0 when that is unknown), index and term of the position before the log, both
   *           varint, and members as in Codec
   *   2       an entry as in Codec
   *   3       the entries from an index on are void: varint
   *   4       the position before the log, as in a state, and whether all later entries are void: u8
   *   5       term varint, vote text
   *   6       the file has begun: nothing
   *
   * A file begins with a state, and with all entries if it needs no file before it. It counts from
   * record 6 on. Earlier files go when all their entries are at or before the position. One of them
   * stays as the file `spare`, and becomes the next file: a sync of it is cheap, as it does not grow,
   * and it is not filled with zeros. Its old records count for nothing under another N.
   *
   * An opener writes all that it has found into a new file, and removes the others: what it found may
   * be in the system's cache only, where the sync that failed has left it, and no later sync writes
   * it. An invalid record in the last file counts as its end, since nothing after it was synced (or a
   * bit has rotted in the last batches, for which no later file vouches). A damaged record in
   * another file is corruption.
   *
   * Invariants:
   * (1) The entries after the position are consecutive, and their terms do not fall.
   * (2) What this opener found is durable before it is used.
   * (3) The directory has the new name of a spare file durably before a byte of it changes: so no
   *     earlier name of it comes back with other contents.
   * (4) A write to a spare file ends at the end of a page: the system need not read the page first.
   */
  private static final long MAGIC = 0x53544f4152414654L; // STOARAFT
  private static final long UNNUMBERED = 1; // the version of files whose records do not have N
  private static final long VERSION = 2;
  private static final int HEADER = 32;
  private static final int RECORD = 8;
  private static final String NAME = "log-";
  private static final String SPARE = "spare";

  private static final int STATE = 1;
  private static final int ENTRY = 2;
  private static final int VOID = 3;
  private static final int POSITION = 4;
  private static final int TERM = 5;
  private static final int BEGUN = 6;

  // How far ahead room is reserved.
  private static final int AHEAD = 1 << 20;

  private static final int PAGE = 4 << 10;
  private static final byte[] ZEROS = new byte[PAGE];

  private final Disk disk;
  private final Disk.Hold hold;
  private final Member self;
  private final long fileBytesMax;
  private final Encoder pending = new Encoder(64 << 10);
  private final Encoder body = new Encoder(1 << 10);
  private final CRC32C sum = new CRC32C();

  // The earlier files, with the highest index of an entry in each.
  private final TreeMap<Long, Long> earlier = new TreeMap<>();

  private DiskFile file;
  private long number;
  private long end;
  private long size;
  // The highest index of an entry in the present file.
  private long highest;
  private boolean unsynced;
  private boolean hasSpare;
  // Whether the present file was the spare one.
  private boolean isReused;
  private int reused;
  private @Nullable IOException failure;

  private int term;
  private @Nullable RaftEndpoint vote;
  private boolean voting;
  private long addedAt;
  private RaftGroupMembersView members;
  private Position position;

  // The entries from the first index on that MicroRaft may still have.
  private final ArrayList<RaftEntry> items = new ArrayList<>();
  private long bytes;

  /// A log as it was found, or as it begins.
  private record Found(
      int term,
      @Nullable RaftEndpoint vote,
      boolean voting,
      long addedAt,
      Position position,
      RaftGroupMembersView members,
      List<RaftEntry> items,
      List<Long> files) {}

  /// Returns whether a disk has a log.
  ///
  /// @throws IOException when it cannot be read
  public static boolean exists(Disk disk) throws IOException {
    return !numbers(disk).isEmpty();
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
      Found found = find(disk);
      if (found == null) found = fresh(self, begin, first);
      return new LogStore(disk, hold, self, found, fileBytesMax);
    } catch (IOException | RuntimeException e) {
      hold.close();
      throw e;
    }
  }

  /// Applies everything in a log to a replica, also what is not known to be committed: most of it
  /// was.
  ///
  /// @param id of the member
  /// @return whether the member votes, as far as its log knows
  /// @throws Corrupt when the log is damaged
  /// @throws IOException when the disk fails
  public static boolean replay(Disk disk, String id, Replica replica) throws IOException {
    Found found = find(disk);
    if (found == null) return false;
    Collection<RaftEndpoint> voting = found.members().getVotingMembers();
    for (RaftEntry item : found.items()) {
      var at = new Position(item.term(), item.index());
      switch (item.operation()) {
        case Payload.Command(_, byte[] bytes) -> {
          var _ = replica.apply(at, bytes);
        }
        case UpdateRaftGroupMembersOp change -> {
          // A member in removal is one until the removal is committed.
          boolean removed =
              change.getMode() == MembershipChangeMode.REMOVE_MEMBER
                  && change.getEndpoint().getId().equals(id);
          if (!removed) voting = change.getVotingMembers();
          replica.advance(at);
        }
        default -> replica.advance(at);
      }
    }
    return voting.stream().anyMatch(member -> member.getId().equals(id));
  }

  private static Found fresh(Member self, Position begin, Collection<Member> first) {
    List<RaftEndpoint> all = first.stream().<RaftEndpoint>map(Endpoint::new).toList();
    boolean voting = all.contains(new Endpoint(self));
    // A member that waits to be added has no position that others know.
    Position position = all.isEmpty() ? Position.START : begin;
    return new Found(
        Math.toIntExact(position.term()),
        null,
        voting,
        all.isEmpty() ? 0 : position.index(),
        position,
        all.isEmpty() ? nobody() : Codec.view(position.index(), all, all),
        List.of(),
        List.of());
  }

  private static RaftGroupMembersView nobody() {
    return Codec.view(0, List.of(Endpoint.NOBODY), List.of(Endpoint.NOBODY));
  }

  private LogStore(Disk disk, Disk.Hold hold, Member self, Found found, long fileBytesMax)
      throws IOException {
    this.disk = disk;
    this.hold = hold;
    this.self = self;
    this.fileBytesMax = fileBytesMax;
    this.term = found.term();
    this.vote = found.vote();
    this.voting = found.voting();
    this.addedAt = found.addedAt();
    this.position = found.position();
    this.members = found.members();
    for (RaftEntry item : found.items()) add(item);
    number = found.files().isEmpty() ? 0 : found.files().getLast();
    file = next(0, found.items());
    for (long old : found.files()) disk.delete(name(old));
    if (disk.list().contains(SPARE)) disk.delete(SPARE);
  }

  // ---- finding

  private static List<Long> numbers(Disk disk) throws IOException {
    var numbers = new ArrayList<Long>();
    for (String name : disk.list()) {
      if (name.startsWith(NAME)) numbers.add(Long.parseLong(name.substring(NAME.length()), 16));
    }
    numbers.sort(null);
    // Some of a group of removed files may have come back.
    for (int i = numbers.size() - 1; i > 0; i--) {
      if (numbers.get(i - 1) != numbers.get(i) - 1) return numbers.subList(i, numbers.size());
    }
    return numbers;
  }

  private static String name(long number) {
    return NAME + "%016x".formatted(number);
  }

  private static byte[] read(Disk disk, long number) throws IOException {
    try (DiskFile file = disk.open(name(number))) {
      long size = file.size();
      if (size > Integer.MAX_VALUE - RECORD) throw new IOException(file.name() + " is too large");
      ByteBuffer all = ByteBuffer.allocate((int) size);
      while (all.hasRemaining()) {
        if (file.read(all.position(), all) < 0) throw new EOFException(file.name());
      }
      return all.array();
    }
  }

  private static @Nullable Found find(Disk disk) throws IOException {
    List<Long> numbers = numbers(disk);
    var files = new ArrayList<byte[]>();
    for (long number : numbers) files.add(read(disk, number));
    int end = files.size();
    // A file that was being begun.
    if (end > 0 && !isBegun(files.get(end - 1), numbers.get(end - 1))) end--;
    if (end == 0) {
      for (long number : numbers) disk.delete(name(number));
      return null;
    }
    int begin = end - 1;
    while (begin > 0 && before(files.get(begin)) > 0) begin--;
    var reading = new Reading(disk, numbers);
    for (int i = begin; i < end; i++) {
      boolean isLast = i == end - 1;
      long until = isLast ? files.get(i).length : before(files.get(i + 1));
      reading.file(numbers.get(i), files.get(i), until, isLast);
    }
    return reading.found();
  }

  /// Returns the length of the file before a file; 0 when it needs none.
  private static long before(byte[] file) {
    return file.length < HEADER ? 0 : ByteBuffer.wrap(file).getLong(24);
  }

  private static boolean isBegun(byte[] file, long number) {
    if (file.length < HEADER + RECORD) return false;
    ByteBuffer header = ByteBuffer.wrap(file);
    if (header.getLong(0) != MAGIC || header.getLong(16) != number) return false;
    long salt = salt(header);
    int at = HEADER;
    while (true) {
      Decoder in = body(file, at, file.length, salt);
      if (in == null) return false;
      at = in.end();
      if (in.u8() == BEGUN) return true;
    }
  }

  /// Returns the number that is part of the checksums in a file; 0 for none.
  private static long salt(ByteBuffer header) {
    return header.getLong(8) == UNNUMBERED ? 0 : header.getLong(16);
  }

  private static int checksum(CRC32C sum, long salt, byte[] bytes, int at, int length) {
    sum.reset();
    if (salt != 0) sum.update(ByteBuffer.allocate(Long.BYTES).putLong(salt).flip());
    sum.update(bytes, at, length);
    return (int) sum.getValue();
  }

  /// Returns the body of the record at a place; null when there is none, or a torn one.
  private static @Nullable Decoder body(byte[] file, int at, long until, long salt) {
    if (at + RECORD > until) return null;
    ByteBuffer header = ByteBuffer.wrap(file);
    int length = header.getInt(at);
    if (length <= 0 || length > until - at - RECORD) return null;
    int expected = checksum(new CRC32C(), salt, file, at + RECORD, length);
    if (expected != header.getInt(at + 4)) return null;
    return new Decoder(file, at + RECORD, at + RECORD + length);
  }

  /// Reads the files, one after the other.
  private static final class Reading {
    private final Disk disk;
    private final List<Long> numbers;
    private final ArrayList<RaftEntry> items = new ArrayList<>();
    private int term;
    private @Nullable RaftEndpoint vote;
    private boolean voting;
    private long addedAt;
    private Position position = Position.START;
    private RaftGroupMembersView members = nobody();

    Reading(Disk disk, List<Long> numbers) {
      this.disk = disk;
      this.numbers = numbers;
    }

    void file(long number, byte[] file, long until, boolean isLast) {
      ByteBuffer header = ByteBuffer.wrap(file);
      long version = file.length < HEADER ? 0 : header.getLong(8);
      boolean isKnown = version == VERSION || version == UNNUMBERED;
      if (!isKnown || !isBegun(file, number) || until > file.length) throw damaged(number, 0);
      long salt = salt(header);
      int at = HEADER;
      while (at < until) {
        Decoder in = body(file, at, until, salt);
        if (in == null) {
          if (isLast) break;
          throw damaged(number, at);
        }
        try {
          record(in);
        } catch (Decoder.MalformedException | IllegalArgumentException unreadable) {
          throw damaged(number, at);
        }
        at = in.end();
      }
    }

    private void record(Decoder in) {
      switch (in.u8()) {
        case STATE -> {
          term = Math.toIntExact(in.varint());
          vote = vote(in);
          voting = in.u8() == 1;
          addedAt = in.varint();
          position(in);
        }
        case ENTRY -> {
          RaftEntry item = Codec.entry(in);
          if (!items.isEmpty() && item.index() != items.getLast().index() + 1) {
            throw new IllegalArgumentException("a gap before " + item.index());
          }
          items.add(item);
        }
        case VOID -> voidFrom(in.varint());
        case POSITION -> {
          position(in);
          if (in.u8() == 1) items.clear();
        }
        case TERM -> {
          term = Math.toIntExact(in.varint());
          vote = vote(in);
        }
        case BEGUN -> {
          // The rest was written later.
        }
        default -> throw new IllegalArgumentException("a record of an unknown kind");
      }
    }

    private static @Nullable RaftEndpoint vote(Decoder in) {
      String text = in.text();
      return text.isEmpty() ? null : new Endpoint(Member.of(text));
    }

    private void position(Decoder in) {
      long index = in.varint();
      position = new Position(in.varint(), index);
      members = Codec.view(in);
    }

    private void voidFrom(long index) {
      while (!items.isEmpty() && items.getLast().index() >= index) items.removeLast();
    }

    Found found() {
      items.removeIf(item -> item.index() <= position.index());
      if (!items.isEmpty() && items.getFirst().index() != position.index() + 1) {
        throw new Corrupt(
            "the log in "
                + disk.place()
                + " lacks the entries between "
                + position.index()
                + " and "
                + items.getFirst().index()
                + "; drain this server, and start a new one in an empty directory");
      }
      return new Found(term, vote, voting, addedAt, position, members, items, numbers);
    }

    private Corrupt damaged(long number, long at) {
      return new Corrupt(
          "%s in %s is damaged at byte %d; drain this server, and start a new one in an empty directory"
              .formatted(name(number), disk.place(), at));
    }
  }

  // ---- writing

  /// Begins a file, durably.
  ///
  /// @param before the length of the file before; 0 when it is not needed
  /// @param all all entries, if it is not
  private DiskFile next(long before, List<RaftEntry> all) throws IOException {
    number++;
    isReused = hasSpare;
    DiskFile begun = hasSpare ? reuse() : disk.create(name(number));
    try {
      size = begun.size();
      ByteBuffer header = ByteBuffer.allocate(HEADER);
      header.putLong(MAGIC).putLong(VERSION).putLong(number).putLong(before);
      begun.write(0, header.flip());
      end = HEADER;
      highest = 0;
      state();
      for (RaftEntry item : all) {
        entry(item);
        if (pending.size() > AHEAD) write(begun);
      }
      body.clear().u8(BEGUN);
      record();
      write(begun);
      size = Math.max(end, begun.size());
      begun.sync();
      disk.syncDirectory();
      return begun;
    } catch (IOException e) {
      begun.close();
      throw e;
    }
  }

  /// Makes the spare file the next one.
  private DiskFile reuse() throws IOException {
    disk.rename(SPARE, name(number));
    hasSpare = false;
    disk.syncDirectory();
    reused++;
    return disk.open(name(number));
  }

  /// Returns how many files were written again.
  int reused() {
    return reused;
  }

  private void write(DiskFile to) throws IOException {
    long next = end + pending.size();
    if (isReused) {
      long page = Math.min((next + PAGE - 1) & -PAGE, size);
      if (page > next) pending.raw(ZEROS, 0, (int) (page - next));
    }
    to.write(end, ByteBuffer.wrap(pending.array(), 0, pending.size()));
    end = next;
    pending.clear();
  }

  private void entry(LogEntry entry) {
    body.clear().u8(ENTRY);
    Codec.entry(entry, body);
    record();
    highest = Math.max(highest, entry.getIndex());
  }

  private void state() {
    body.clear().u8(STATE).varint(term).text(text(vote));
    body.u8(voting ? 1 : 0).varint(addedAt);
    place();
    record();
  }

  private void place() {
    body.varint(position.index()).varint(position.term());
    Codec.view(members, body);
  }

  private static String text(@Nullable RaftEndpoint endpoint) {
    return endpoint == null ? "" : Codec.member(endpoint).toString();
  }

  /// Adds the body as a record to what is written next.
  private void record() {
    ByteBuffer header = ByteBuffer.allocate(RECORD);
    header.putInt(body.size()).putInt(checksum(sum, number, body.array(), 0, body.size()));
    pending.raw(header.array()).raw(body.array(), 0, body.size());
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

  private void write() throws IOException {
    if (pending.size() == 0) return;
    long to = end + pending.size();
    if (to > size) {
      reserve(Math.max(to, Math.min(size + AHEAD, fileBytesMax)));
      size = Math.max(to, file.size());
    }
    write(file);
    unsynced = true;
  }

  private void reserve(long to) throws IOException {
    try {
      file.reserve(size, to);
    } catch (DiskFull full) {
      if (!hasSpare) throw full;
      disk.delete(SPARE);
      hasSpare = false;
      file.reserve(size, to);
    }
  }

  @Override
  public void flush() throws IOException {
    work(this::flushed);
  }

  private void flushed() throws IOException {
    write();
    if (!unsynced) return;
    file.sync();
    unsynced = false;
    if (end < fileBytesMax) return;
    file.close();
    earlier.put(number, highest);
    file = next(end, List.of());
    dropFiles();
  }

  /// Removes the files of which nothing is needed.
  private void dropFiles() throws IOException {
    while (!earlier.isEmpty() && earlier.firstEntry().getValue() <= position.index()) {
      String old = name(earlier.pollFirstEntry().getKey());
      if (hasSpare) {
        disk.delete(old);
      } else {
        disk.rename(old, SPARE);
        hasSpare = true;
      }
    }
  }

  // ---- as MicroRaft demands

  @Override
  public void persistAndFlushLocalEndpoint(RaftEndpointPersistentState state) throws IOException {
    work(() -> {
      if (voting == state.isVoting()) return;
      voting = state.isVoting();
      state();
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
      if (term == state.getTerm() && text(vote).equals(text(voted))) return;
      term = state.getTerm();
      vote = voted;
      body.clear().u8(TERM).varint(term).text(text(vote));
      record();
      flushed();
    });
  }

  @Override
  public void persistLogEntries(List<LogEntry> entries) throws IOException {
    work(() -> {
      for (LogEntry entry : entries) {
        entry(entry);
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
      body.clear().u8(VOID).varint(index);
      record();
    });
  }

  @Override
  public void persistSnapshotChunk(SnapshotChunk chunk) throws IOException {
    // Its replica has synced.
    work(() ->
        moveTo(new Position(chunk.getTerm(), chunk.getIndex()), chunk.getGroupMembersView(), 0));
  }

  private void moveTo(Position to, RaftGroupMembersView view, int voids) {
    position = to;
    members = view;
    body.clear().u8(POSITION);
    place();
    body.u8(voids);
    record();
  }

  @Override
  public void truncateLogEntriesUntil(long index) throws IOException {
    work(() -> {
      int dropped = 0;
      for (RaftEntry item : items) {
        if (item.index() > Math.min(index, position.index())) break;
        bytes -= item.bytes();
        dropped++;
      }
      items.subList(0, dropped).clear();
      dropFiles();
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
        items.clear();
        bytes = 0;
      }
      moveTo(to, view, follows ? 0 : 1);
      voting = view.getVotingMembers().contains(new Endpoint(self));
      if (term < to.term()) {
        term = Math.toIntExact(to.term());
        vote = null;
      }
      state();
      flushed();
      truncateLogEntriesUntil(to.index());
    });
  }

  /// Returns whether this member has the log up to the entry that added it. A member that was
  /// removed and added again has lost its earlier log.
  boolean isJoined() {
    return addedAt > 0 && lastIndex() >= addedAt;
  }

  /// Returns the index at which this member was added; 0 when that is unknown.
  long addedAt() {
    return addedAt;
  }

  /// Returns whether this member can have had the log up to an index since it was added last. A
  /// member that was removed and comes back has lost what it had before.
  public boolean isOfThisMembership(long index) {
    return addedAt > 0 && index >= addedAt;
  }

  /// Records durably where this member was added, unless it has the log up to there already.
  void added(long index) throws IOException {
    work(() -> {
      if (isJoined() || index == addedAt) return;
      addedAt = index;
      state();
      flushed();
    });
  }

  /// Returns the term of the entry at an index; 0 when it is not here.
  int termAt(long index) {
    if (index == position.index()) return Math.toIntExact(position.term());
    if (items.isEmpty()) return 0;
    long at = index - items.getFirst().index();
    return at < 0 || at >= items.size() ? 0 : items.get((int) at).term();
  }

  /// Returns the position before the log.
  Position position() {
    return position;
  }

  /// Returns the index of the last entry, or of the position before the log.
  long lastIndex() {
    return items.isEmpty() ? position.index() : Math.max(position.index(), items.getLast().index());
  }

  /// Returns the index of the first entry that is still here.
  long firstIndex() {
    return items.isEmpty() ? position.index() + 1 : items.getFirst().index();
  }

  /// Returns about how many bytes its entries take in memory.
  long bytes() {
    return bytes;
  }

  /// Returns the members at the position before the log; none when this member waits to be added.
  RaftGroupMembersView members() {
    return members;
  }

  /// Returns the members that the log names, earlier ones too.
  public List<Member> known() {
    var all = new LinkedHashMap<String, Member>();
    add(members.getMembers(), all);
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
    while (from < items.size() && items.get(from).index() <= position.index()) from++;
    return items.subList(from, items.size());
  }

  /// Returns what MicroRaft begins with.
  RestoredRaftState restored() {
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
    boolean votes = voting || members.getVotingMembers().contains(here);
    return new RestoredRaftState(
        Models.ALL
            .createRaftEndpointPersistentStateBuilder()
            .setLocalEndpoint(here)
            .setVoting(votes)
            .build(),
        nobody(),
        Models.ALL.createRaftTermPersistentStateBuilder().setTerm(term).setVotedFor(vote).build(),
        snapshot,
        new ArrayList<LogEntry>(entries()));
  }

  @Override
  public void close() {
    file.close();
    hold.close();
  }
}
