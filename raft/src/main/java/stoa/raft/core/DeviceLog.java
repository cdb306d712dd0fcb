package stoa.raft.core;

import io.microraft.model.groupop.UpdateRaftGroupMembersOp;
import io.microraft.model.log.RaftGroupMembersView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.log.Position;
import stoa.log.ReplicaLog;
import stoa.storage.Device;
import stoa.storage.disk.StorageException;

/// The log of a member on the device of its replica, where each entry is written once.
final class DeviceLog implements LogMedium {
  /*
   * The head is in one record of the device:
   *
   *   version u8: 1, then as in LogHead
   *
   * Entries without a command are in the form of Codec. The log of an opened replica begins behind
   * the last entry of which the replica has released something, and otherwise behind the position of
   * the head. The members there are those of the last change up to there. The terms of the entries
   * before are known.
   */
  private static final int VERSION = 1;

  private final ReplicaLog log;
  private final Encoder out = new Encoder(1 << 10);

  DeviceLog(ReplicaLog log) {
    this.log = log;
  }

  /// Returns what a device has; null for nothing.
  ///
  /// @throws Corrupt when it is damaged
  static @Nullable Contents find(ReplicaLog log) {
    byte[] bytes = log.head();
    if (bytes == null) return null;
    try {
      var in = new Decoder(bytes);
      int version = in.u8();
      if (version != VERSION) throw new Corrupt("the log of a group has the format " + version);
      return find(log, LogHead.read(in));
    } catch (Decoder.MalformedException | IllegalArgumentException unreadable) {
      throw new Corrupt("the log of a group cannot be read: " + unreadable, unreadable);
    }
  }

  private static Contents find(ReplicaLog log, LogHead written) {
    LogHead head = written;
    var earlier = new ArrayList<Position>();
    var items = new ArrayList<RaftEntry>();
    for (ReplicaLog.Item item : log.entries()) {
      Position at = item.at();
      RaftEntry entry = entry(item);
      boolean isLater = at.index() > head.position().index();
      if (entry == null && isLater) {
        head = head.withPosition(at, members(head, items));
        for (RaftEntry before : items) earlier.add(new Position(before.term(), before.index()));
        items.clear();
      }
      if (entry != null && isLater) items.add(entry);
      else earlier.add(at);
    }
    long first = items.isEmpty() ? head.position().index() + 1 : items.getFirst().index();
    if (first != head.position().index() + 1) {
      throw new Corrupt(
          "the log lacks the entries between %d and %d".formatted(head.position().index(), first));
    }
    return new Contents(head, earlier, items);
  }

  /// Returns the members after the entries behind the position of a head.
  private static RaftGroupMembersView members(LogHead head, List<RaftEntry> items) {
    for (RaftEntry entry : items.reversed()) {
      if (entry.operation() instanceof UpdateRaftGroupMembersOp change) {
        return Codec.view(entry.index(), change.getMembers(), change.getVotingMembers());
      }
    }
    return head.members();
  }

  /// Returns an entry; null for one that was released.
  private static @Nullable RaftEntry entry(ReplicaLog.Item item) {
    return switch (item) {
      case ReplicaLog.Item.Own(_, byte[] content) -> Codec.entry(new Decoder(content));
      case ReplicaLog.Item.Ordered(Position at, byte[] command) -> {
        int term = Math.toIntExact(at.term());
        yield new RaftEntry(at.index(), term, new Payload.Command(term, command));
      }
      case ReplicaLog.Item.Released _ -> null;
    };
  }

  /// Puts contents onto the device of a replica that has its log elsewhere, durably.
  static void begin(Device device, Contents contents) {
    var out = new Encoder(1 << 10).u8(VERSION);
    contents.head().write(out);
    List<ReplicaLog.Item> items = contents.items().stream().map(DeviceLog::item).toList();
    ReplicaLog.begin(device, out.toBytes(), items);
  }

  private static ReplicaLog.Item item(RaftEntry entry) {
    var at = new Position(entry.term(), entry.index());
    if (entry.operation() instanceof Payload.Command(_, byte[] bytes)) {
      return new ReplicaLog.Item.Ordered(at, bytes);
    }
    var out = new Encoder(1 << 10);
    Codec.entry(entry, out);
    return new ReplicaLog.Item.Own(at, out.toBytes());
  }

  private interface Work {
    void run();
  }

  private static void work(Work work) throws IOException {
    try {
      work.run();
    } catch (StorageException | IllegalStateException failed) {
      throw new IOException(failed);
    }
  }

  private byte[] bytes(LogHead head) {
    out.clear().u8(VERSION);
    head.write(out);
    return out.toBytes();
  }

  @Override
  public void head(LogHead head) throws IOException {
    work(() -> log.head(bytes(head)));
  }

  @Override
  public void term(LogHead head) throws IOException {
    head(head);
  }

  @Override
  public void position(LogHead head) throws IOException {
    work(() -> log.head(bytes(head), head.position().index()));
  }

  @Override
  public void positionAlone(LogHead head) throws IOException {
    cut(head.position().index() + 1);
    position(head);
  }

  @Override
  public void entry(RaftEntry entry) throws IOException {
    work(() -> log.append(item(entry)));
  }

  @Override
  public void cut(long from) throws IOException {
    work(() -> log.cut(from));
  }

  @Override
  public void flush(LogHead head) throws IOException {
    work(log::sync);
  }

  @Override
  public void drop(long index) {
    // The device reclaims it.
  }

  @Override
  public int reused() {
    return 0;
  }

  @Override
  public void close() {
    // The device is its replica's.
  }
}
