package stoa.node;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.StreamKey;
import stoa.StreamStore;
import stoa.node.access.Caller;
import stoa.wire.proto.AuditLine;
import stoa.wire.proto.LookReply;

/// Notes the commands of operators in the log of the server, and in a stream of the store.
/// Thread-safe.
///
/// A command does not wait for its entry: operators cancel calls and drain servers while the log
/// takes nothing. An entry that the store does not take is in the log of the server.
final class Audit {
  private static final Logger LOG = LoggerFactory.getLogger("stoa.audit");

  // An entry has at most a few kilobytes, and a reply 8 MiB.
  private static final int ENTRIES_MAX = 500;

  private final ServedGroups servedGroups;

  Audit(ServedGroups servedGroups) {
    this.servedGroups = servedGroups;
  }

  /// Notes that a command begins.
  void begins(Caller caller, String address, String command) {
    LOG.info("{} at {} asks: {}", caller.name(), address, command);
  }

  /// Notes that a command has ended.
  ///
  /// @param group the group that it concerns
  void ends(int group, Caller caller, String address, String command, String outcome) {
    var entry =
        new AuditEntry(System.currentTimeMillis(), caller.name(), address, command, outcome);
    ServedGroup served = servedGroups.of(group);
    if (served == null || servedGroups.groups() == 0) {
      lost(entry, null);
      return;
    }
    try {
      var key = AuditEntry.stream(group, servedGroups.groups());
      var _ =
          served
              .service()
              .streams()
              .all()
              .appendAsync(Map.of(key, entry.encoded()))
              .whenComplete((_, failed) -> {
                if (failed != null) lost(entry, failed);
              });
    } catch (StoaException | IllegalArgumentException failed) {
      lost(entry, failed);
    }
  }

  /// Moves the commands that were done on files into the audit log of group 0. Waits for the disk.
  ///
  /// @param directory has them; they stay there when the store does not take them
  static void settle(StreamStore streams, int groups, Path directory) {
    try {
      List<AuditEntry> entries = OfflineAudit.read(directory);
      if (entries.isEmpty()) return;
      var key = AuditEntry.stream(0, groups);
      for (AuditEntry entry : entries) {
        LOG.info("{} offline has done: {}", entry.identity(), entry.command());
        streams.append(key, entry.encoded());
      }
      OfflineAudit.forget(directory);
    } catch (IOException | StoaException failed) {
      LOG.warn("the commands on files in {} are not noted yet: {}", directory, failed.getMessage());
    }
  }

  /// Returns the last entries of a group.
  ///
  /// @param max how many at most
  static LookReply last(StreamStore streams, int max) {
    var found = new ArrayList<AuditEntry>();
    int most = Math.clamp(max, 1, ENTRIES_MAX);
    for (StreamKey stream : AuditEntry.streams()) {
      long end = streams.check(stream);
      if (end == 0) continue;
      long from = Math.max(1, Math.max(streams.oldest(stream), end - most + 1));
      streams.scan(
          stream,
          from,
          end,
          entry -> {
            found.add(AuditEntry.of(entry.data()));
            return true;
          });
    }
    found.sort(Comparator.comparingLong(AuditEntry::millis));
    var reply = LookReply.newBuilder();
    for (AuditEntry entry : found.subList(Math.max(0, found.size() - most), found.size())) {
      reply.addAudits(
          AuditLine.newBuilder()
              .setTimeMillis(entry.millis())
              .setIdentity(entry.identity())
              .setAddress(entry.address())
              .setCommand(entry.command())
              .setOutcome(entry.outcome()));
    }
    return reply.build();
  }

  private static void lost(AuditEntry entry, @Nullable Throwable why) {
    LOG.warn(
        "{} at {}: {}: {}; the store has no entry of it: {}",
        entry.identity(),
        entry.address(),
        entry.command(),
        entry.outcome(),
        why == null ? "this server does not lead the group" : why.getMessage());
  }
}
