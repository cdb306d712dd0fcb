package stoa.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import stoa.base.Encoder;

class ReportTest {
  private static Report report(Report.HostedReplica last) {
    var groups = new TreeMap<Integer, Report.HostedReplica>();
    var members = new TreeMap<String, Long>();
    members.put("a", 0L);
    members.put("b", 12L);
    groups.put(0, new Report.HostedReplica(Report.State.LEADS, true, members));
    groups.put(3, last);
    return new Report("why not", groups);
  }

  @Test
  void isReadAsItWasWritten() {
    assertEquals(
        report(Report.HostedReplica.FAILED),
        Report.of(report(Report.HostedReplica.FAILED).bytes()));
    assertEquals(
        report(Report.HostedReplica.OUT), Report.of(report(Report.HostedReplica.OUT).bytes()));
    var alarmed =
        new Report(
            "",
            report(Report.HostedReplica.OUT).groups(),
            List.of("trouble"),
            new ServerRequest.Mandate(3, 700));
    assertEquals(alarmed, Report.of(alarmed.bytes()));
    assertEquals(Set.of(3), report(Report.HostedReplica.OUT).in(Report.State.OUT));
  }

  @Test
  void whatIsOutHasFailedForServersOfVersionsBefore() {
    byte[] now = report(Report.HostedReplica.OUT).bytes();
    byte[] before = Arrays.copyOf(now, now.length - 7); // what these read
    assertEquals(report(Report.HostedReplica.FAILED), Report.of(before));
  }

  @Test
  void whatServersOfVersionsBeforeAnswerIsRead() {
    byte[] now = report(Report.HostedReplica.OUT).bytes();
    byte[] before = Arrays.copyOf(now, now.length - 5); // without counts and view
    assertEquals(report(Report.HostedReplica.OUT), Report.of(before));
    // Those of the version before tell no view.
    assertEquals(report(Report.HostedReplica.OUT), Report.of(Arrays.copyOf(now, now.length - 2)));
    // Some of them say which classes they lack.
    byte[] lacking = new Encoder(64).raw(before).varint(1).text("a (A)").varint(0).toBytes();
    assertEquals(report(Report.HostedReplica.OUT), Report.of(lacking));
  }
}
