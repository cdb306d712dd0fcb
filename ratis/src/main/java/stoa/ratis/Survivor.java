package stoa.ratis;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.apache.ratis.proto.RaftProtos.LogEntryProto;
import org.apache.ratis.server.RaftServerConfigKeys.Log.CorruptionPolicy;
import org.apache.ratis.server.raftlog.segmented.LogSegment;
import org.apache.ratis.server.raftlog.segmented.LogSegmentPath;
import org.apache.ratis.util.SizeInBytes;
import org.jspecify.annotations.Nullable;
import stoa.Unavailable;
import stoa.base.Permissions;
import stoa.log.Position;
import stoa.log.Replica;
import stoa.raft.GroupId;
import stoa.raft.NodeConfig;

/// Makes one member of a group that has lost most of its members the first one of a group of its
/// own.
///
/// It also applies entries of its log that are not known to be committed: most of them were.
/// Entries that only the lost members had are lost. A lost member that comes back must not find
/// this one: it gets another address.
public final class Survivor {
  /*
   * Raft's log names the members, so it cannot continue: its contents go to the device, which is
   * the state that a log without beginning follows on, as after a catch-up. The term is kept; it
   * must not fall.
   *
   * When the device is durable, one rename puts the old log aside. Before that nothing has changed;
   * after an interruption, the caller repeats it.
   */
  private static final String CURRENT = "current";
  private static final String META = "raft-meta";
  private static final String GROWING = "inprogress";
  private static final String MEMBERS = "raft-meta.conf";
  private static final String NEXT = ".next";
  private static final String ASIDE = ".before.";

  private Survivor() {}

  /// Puts a group's log aside, once the replica has all that is in it. The node that hosts it must
  /// not run.
  ///
  /// @param config with the directory of the node
  /// @param name of the group
  /// @param replica of this member, stays open
  /// @return the position of the replica
  /// @throws Unavailable when the log cannot be read, or this was no member, as far as it knows
  public static Position begin(NodeConfig config, GroupId name, Replica replica) {
    Path directory = config.directory();
    Path log = directory.resolve(RatisNode.id(name).getUuid().toString());
    Path next = log.resolveSibling(log.getFileName() + NEXT);
    try {
      if (!Files.exists(log) && Files.exists(next)) move(next, log); // interrupted between the two
      List<LogSegmentPath> segments = segments(log.resolve(CURRENT));
      List<LogEntryProto> members = new ArrayList<>();
      for (LogSegmentPath segment : segments) {
        apply(config, segment, replica, members);
      }
      Position reached = replica.sync();
      LogEntryProto latest = members.isEmpty() ? noted(log) : members.getLast();
      // The log of a member that continues alone already is empty, and names no members yet.
      if (latest == null ? !segments.isEmpty() : !isMember(config.id(), latest)) {
        throw new Unavailable(
            log
                + " is of a server that was to become a member of "
                + name
                + " and was none yet; take the directory of another server that is left");
      }
      if (!segments.isEmpty()) {
        prepare(log, next);
        move(log, log.resolveSibling(log.getFileName() + ASIDE + reached.index()));
        move(next, log);
      }
      sync(directory, StandardOpenOption.READ);
      return reached;
    } catch (IOException failed) {
      throw new Unavailable(
          log
              + " cannot be read: "
              + failed
              + "; take the directory of another server that is left, or put this log back",
          failed);
    }
  }

  /// Makes the log of a group that follows on a replica with contents: of a restored backup.
  /// Durable on return.
  ///
  /// @param config with the directory of the node, which has no log of the group yet
  /// @param name of the group
  /// @param position of the replica
  /// @throws Unavailable when it cannot be written
  public static void follow(NodeConfig config, GroupId name, Position position) {
    Path log = config.directory().resolve(RatisNode.id(name).getUuid().toString());
    Path meta = log.resolve(CURRENT).resolve(META);
    try {
      Permissions.createDirectories(log.resolve(CURRENT));
      Files.writeString(meta, "term=" + position.term() + "\nvotedFor=\n");
      sync(meta, StandardOpenOption.WRITE);
      sync(log.resolve(CURRENT), StandardOpenOption.READ);
      sync(log, StandardOpenOption.READ);
      sync(config.directory(), StandardOpenOption.READ);
    } catch (IOException failed) {
      throw new Unavailable(log + " cannot be written: " + failed, failed);
    }
  }

  private static List<LogSegmentPath> segments(Path current) throws IOException {
    try (var files = Files.list(current)) {
      return files
          .map(LogSegmentPath::matchLogSegment)
          .filter(Objects::nonNull)
          .sorted(Comparator.comparing(LogSegmentPath::getStartEnd))
          .toList();
    }
  }

  private static void apply(
      NodeConfig config, LogSegmentPath segment, Replica replica, List<LogEntryProto> members)
      throws IOException {
    // A torn end was never acknowledged by this member; nothing else may be torn.
    boolean growing = segment.getPath().getFileName().toString().contains(GROWING);
    LogSegment.readSegmentFile(
        segment.getPath().toFile(),
        segment.getStartEnd(),
        SizeInBytes.valueOf(2L * config.commandBytesMax()),
        growing ? CorruptionPolicy.WARN_AND_RETURN : CorruptionPolicy.EXCEPTION,
        null,
        entry -> {
          apply(entry, replica);
          if (entry.hasConfigurationEntry()) members.add(entry);
        });
  }

  private static void apply(LogEntryProto entry, Replica replica) {
    Position at = GroupMachine.position(entry.getTerm(), entry.getIndex());
    if (entry.hasStateMachineLogEntry()) {
      var _ = replica.apply(at, entry.getStateMachineLogEntry().getLogData().toByteArray());
    } else {
      replica.advance(at);
    }
  }

  /// Returns the members at the last known committed entry; null when there is none.
  private static @Nullable LogEntryProto noted(Path log) throws IOException {
    Path file = log.resolve(CURRENT).resolve(MEMBERS);
    return Files.exists(file) ? LogEntryProto.parseFrom(Files.readAllBytes(file)) : null;
  }

  private static boolean isMember(String id, LogEntryProto members) {
    var listed = members.getConfigurationEntry();
    // A member in removal is one of the old ones until the removal is committed.
    return Stream.of(listed.getPeersList(), listed.getOldPeersList())
        .flatMap(List::stream)
        .anyMatch(peer -> peer.getId().toStringUtf8().equals(id));
  }

  /// Writes a log without entries, in the same term.
  private static void prepare(Path log, Path next) throws IOException {
    Path current = next.resolve(CURRENT);
    Path meta = current.resolve(META);
    Files.createDirectories(current);
    Files.copy(log.resolve(CURRENT).resolve(META), meta, StandardCopyOption.REPLACE_EXISTING);
    sync(meta, StandardOpenOption.WRITE);
    sync(current, StandardOpenOption.READ);
    sync(next, StandardOpenOption.READ);
  }

  private static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
  }

  private static void sync(Path path, StandardOpenOption mode) throws IOException {
    try (var channel = FileChannel.open(path, mode)) {
      channel.force(true);
    }
  }
}
