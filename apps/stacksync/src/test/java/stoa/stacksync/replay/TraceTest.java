package stoa.stacksync.replay;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.StringReader;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import stoa.stacksync.Status;

class TraceTest {
  private static final String HEADER =
      "ts,req,user,device,workspace,item,op,version,base,size,checksum,path,chunks\n";
  private static final String FIRST =
      "1386492976,0,3,4,osx,7,NEW,1,0,403,6a6b,osx/a.md,9b91;77aa\n";

  @Test
  void readsEachField() throws IOException {
    assertEquals(
        List.of(
            new TraceRow(
                1386492976L,
                0,
                3,
                4,
                "osx",
                7,
                Status.NEW,
                1,
                0,
                403,
                0x6a6b,
                "osx/a.md",
                List.of("9b91", "77aa"))),
        read(FIRST).rows());
  }

  @Test
  void aQuotedFieldMayHoldCommasAndQuotes() throws IOException {
    var row = read("1,0,3,4,osx,7,NEW,1,0,4,6a,\"osx/a,\"\"b\"\".md\",9b\n").rows().getFirst();
    assertEquals("osx/a,\"b\".md", row.path());
  }

  @Test
  void aDeletionHasNoContents() throws IOException {
    var row = read(FIRST + "2,1,3,4,osx,7,DELETED,2,1,0,,osx/a.md,\n").rows().getLast();
    assertEquals(List.of(), row.chunks());
    assertEquals(0, row.checksum());
  }

  @Test
  void whatIsMalformedIsNamedWithItsLine() {
    var cases =
        Map.of(
            "1,0,3,4,osx,7,NEW,1,0,4,6a,osx/a.md", "12 fields instead of 13",
            "1,0,3,4,osx,7,GONE,1,0,4,6a,osx/a.md,", "op \"GONE\" is none of [NEW",
            "1,0,3,x,osx,7,NEW,1,0,4,6a,osx/a.md,", "device \"x\" is not a number",
            "1,0,3,-2,osx,7,NEW,1,0,4,6a,osx/a.md,", "device -2 is out of range",
            "1,0,3,4,osx,7,NEW,1,0,4,zz,osx/a.md,", "checksum \"zz\" is not a hexadecimal",
            "1,0,3,4,osx,7,NEW,1,0,4,6a,,", "path is empty",
            "1,0,3,4,osx,7,NEW,1,0,4,6a,\"osx/a.md,", "a double quote is not closed",
            "1,0,3,4,osx,8,NEW,2,0,4,6a,osx/a.md,", "item 8 has version 2 where version 1 is due");
    cases.forEach((row, complaint) -> {
      var refusal = assertThrows(IllegalArgumentException.class, () -> read(FIRST + row + "\n"));
      var message = String.valueOf(refusal.getMessage());
      assertTrue(message.startsWith("test.csv, line 3: " + complaint), message);
    });
  }

  @Test
  void anotherFileIsRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> Trace.read(new StringReader("a,b,c\n1,2,3\n"), "test.csv"));
  }

  @Test
  void theCompactTraceKeepsTheTrickyCases() {
    var rows = Trace.builtIn().rows();
    assertTrue(rows.size() >= 20_000, rows.size() + " rows");
    var late =
        rows.stream()
            .filter(row -> row.base() != TraceRow.BASE_UNKNOWN && row.base() < row.version() - 1)
            .toList();
    assertEquals(96, late.size());
    var places = new HashMap<Long, String>();
    int moves = 0;
    int creationsTwice = 0;
    for (var row : rows) {
      var from = places.put(row.item(), row.workspace());
      if (from != null && !from.equals(row.workspace())) moves++;
    }
    for (var row : late) if (row.base() == 0) creationsTwice++;
    assertTrue(moves > 300, moves + " moves between workspaces");
    assertEquals(37, creationsTwice);
    assertEquals(
        List.of(Status.values()),
        rows.stream().map(TraceRow::status).distinct().sorted().collect(Collectors.toList()));
  }

  @Test
  void theFirstRequestsAreWhole() {
    var trace = Trace.builtIn();
    var first = trace.firstRequests(100);
    assertEquals(100, first.rows().stream().mapToInt(TraceRow::request).distinct().count());
    assertTrue(trace.rows().get(first.rows().size()).request() != first.rows().getLast().request());
    assertEquals(trace, trace.firstRequests(Integer.MAX_VALUE));
  }

  private static Trace read(String rows) throws IOException {
    return Trace.read(new StringReader(HEADER + rows), "test.csv");
  }
}
