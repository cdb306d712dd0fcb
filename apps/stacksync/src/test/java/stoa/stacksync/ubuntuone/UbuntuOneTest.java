package stoa.stacksync.ubuntuone;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import org.junit.jupiter.api.Test;
import stoa.Stoa;
import stoa.stacksync.CommitInfo;
import stoa.stacksync.Design;
import stoa.stacksync.Device;
import stoa.stacksync.Services;
import stoa.stacksync.SyncService;

class UbuntuOneTest {
  private static final String HEADER = String.join(",", Collections.nCopies(34, "column")) + "\n";

  @Test
  void theProvidersLogIsReduced() throws IOException {
    var log =
        HEADER
            + raw("storage_done", "Request done", "n1", "MakeResponse", "None", "12:00:00.5")
            + raw("storage_done", "Request done", "n1", "PutContentResponse", "700", "12:00:01.25")
            + raw("storage", "Request done", "n1", "MakeResponse", "700", "12:00:02")
            + raw("storage", "Request done", "n2", "Unlink", "", "12:00:03")
            + raw("storage", "Request done", "n2", "MoveResponse", "", "12:00:02.9")
            + raw("rpc", "Request done", "n1", "Unlink", "", "12:00:04")
            + raw("storage", "Request begun", "n1", "Unlink", "", "12:00:05")
            + raw("storage", "Request done", "", "Unlink", "", "12:00:06")
            + raw("storage", "Request done", "n1", "ListShares", "", "12:00:07");
    var trace = UbuntuOneLog.read(new StringReader(log), "log");
    assertEquals(
        List.of(
            "0.000,new,1,File,text/plain,0,1,s1,77",
            "0.750,mod,1,File,text/plain,700,2,s1,77",
            "1.500,new,1,File,text/plain,700,2,s1,77",
            "2.500,del,2,File,text/plain,0,2,s1,77",
            "2.500,mov,2,File,text/plain,0,3,s1,77"),
        trace.rows().stream().map(UbuntuOneRow::text).toList());
    assertEquals(List.of(new UbuntuOneTrace.UserFile("77", 2)), trace.earlierFiles());
    assertEquals(trace, copy(trace));
  }

  private static String raw(
      String t, String message, String node, String operation, String size, String time) {
    var fields = new String[34];
    java.util.Arrays.fill(fields, "\"a, b\"");
    fields[0] = t;
    fields[13] = "b'text/plain'";
    fields[14] = message;
    fields[15] = node;
    fields[19] = operation;
    fields[25] = "s1";
    fields[26] = size;
    fields[28] = "2014-01-21 " + time;
    fields[29] = "File";
    fields[31] = "77";
    return String.join(",", fields) + "\n";
  }

  @Test
  void malformedRowsAreRefusedWithTheirLine() {
    for (var line :
        List.of(
            "0,new,1,File,,5,1,s",
            "x,new,1,File,,5,1,s,u",
            "0,make,1,File,,5,1,s,u",
            "0,new,1,File,,-5,1,s,u",
            "0,new,1,File,,5,2,s,u",
            "0,mod,1,File,,5,1,s,u")) {
      var text = UbuntuOneRow.HEADER + "\n0,new,9,File,,5,1,s,u\n" + line + "\n";
      var refusal =
          assertThrows(
              IllegalArgumentException.class,
              () -> UbuntuOneTrace.read(new StringReader(text), "trace"));
      assertTrue(
          String.valueOf(refusal.getMessage()).startsWith("trace, line 3: "),
          () -> refusal.getMessage());
    }
  }

  @Test
  void generatedTracesHaveThePublishedSkew() throws IOException {
    var generator = new UbuntuOneGenerator(2_000, 60, 500, 7);
    var trace = generator.trace();
    assertEquals(trace, generator.trace());
    assertEquals(trace.rows().size(), copy(trace).rows().size());
    var changes = new HashMap<String, Integer>();
    for (var row : trace.rows()) changes.merge(row.user(), 1, Integer::sum);
    var most = changes.values().stream().sorted(Comparator.reverseOrder()).toList();
    int all = trace.rows().size();
    int ofOneInHundred = most.stream().limit(20).mapToInt(count -> count).sum();
    int ofActive = most.stream().limit(700).mapToInt(count -> count).sum();
    assertTrue(ofOneInHundred > all / 2, ofOneInHundred + " of " + all);
    assertTrue(ofActive > all * 0.99, ofActive + " of " + all);
    assertTrue(new UbuntuOneGenerator(10, 60, 5, 8).trace().rows().size() > 0);
  }

  @Test
  void theServiceTakesEveryRequestOfATrace() {
    var trace = new UbuntuOneGenerator(30, 20, 20, 3).trace();
    var late = new UbuntuOneTrace(trace.rows().subList(100, trace.rows().size()));
    try (var stoa = Stoa.open("memory:")) {
      var service = Services.open(stoa, "replay", Design.ITEMS_EMBEDDED);
      for (var name : trace.users()) {
        var user = UbuntuOneRequests.user(name);
        service.addUser(user, name, name, 1L << 50);
        service.addDevice(user, new Device(user, "device", "Linux"));
        service.addWorkspace(user, user, "workspace");
      }
      for (var request : UbuntuOneRequests.of(trace)) {
        assertInstanceOf(CommitInfo.Committed.class, commit(service, request));
      }
    }
    assertTrue(late.earlierFiles().size() > 0);
    assertEquals(late.earlierFiles().size(), UbuntuOneRequests.before(late).size());
  }

  private static CommitInfo commit(SyncService service, UbuntuOneRequests.Request request) {
    return service
        .doCommit(request.user(), request.user(), request.user(), List.of(request.change()))
        .getFirst();
  }

  private static UbuntuOneTrace copy(UbuntuOneTrace trace) throws IOException {
    var text = new StringBuilder();
    trace.write(text);
    return UbuntuOneTrace.read(new StringReader(text.toString()), "copy");
  }
}
