package stoa.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.ConnectionSecurity;
import stoa.StoaConfig;
import stoa.objects.ObjectService;
import stoa.wire.Channels;
import stoa.wire.proto.AuditOf;
import stoa.wire.proto.LookReply;
import stoa.wire.proto.LookRequest;

/// Commands on files are in the audit log once a server leads the store.
class OfflineAuditTest {
  @Test
  void aServerMovesWhatWasDoneOnFilesIntoTheAuditLog(@TempDir Path directory) throws Exception {
    OfflineAudit.note(directory, "restore /backups as of log address 7");
    OfflineAudit.note(directory, "salvage\nof two lines\tand a tab");
    Path file = directory.resolve("audit.pending");
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    Files.writeString(file, "179573", StandardOpenOption.APPEND); // a crash cut it off
    assertThrows(
        IllegalArgumentException.class, () -> OfflineAudit.note(directory.resolve("none"), "x"));
    try (var channels = new Channels(ConnectionSecurity.none());
        Server server =
            Server.start(
                ServerConfig.of("127.0.0.1", 0),
                ObjectService.open(StoaConfig.of("memory:"), _ -> true))) {
      var operator = RawClient.questions(channels, server.port());
      server.settle(directory);
      var asked = LookRequest.newBuilder().setAudit(AuditOf.newBuilder().setMax(10)).build();
      LookReply told;
      do {
        told = operator.look(asked);
      } while (Files.exists(file));
      told = operator.look(asked);
      assertEquals(2, told.getAuditsCount());
      assertEquals("restore /backups as of log address 7", told.getAudits(0).getCommand());
      assertEquals("offline", told.getAudits(0).getAddress());
      assertEquals(System.getProperty("user.name"), told.getAudits(0).getIdentity());
      assertTrue(told.getAudits(1).getCommand().startsWith("salvage of two lines"));
      assertFalse(Files.exists(file));
    }
  }
}
