package stoa.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import stoa.Accessor;
import stoa.Limits;
import stoa.Shared;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.Unavailable;
import stoa.View;
import stoa.node.Server;

/// States that a client keeps, of many objects within its bounds, and of large ones; and what it
/// loses with a server that stops.
class LocalCopiesTest {
  private static final int OBJECTS = 16;
  private static final int STATE_BYTES = 20_000;
  private static final long BYTES_MAX = 200_000;

  @Shared(name = "replicas.Sheet")
  static class Sheet {
    private final List<byte[]> rows = new ArrayList<>();

    public int add(byte[] row) {
      rows.add(row);
      return rows.size();
    }

    @Accessor
    public int size() {
      return rows.size();
    }
  }

  private static Sheet view(Stoa stoa, String key, View freshness) {
    return stoa.view(Sheet.class, stoa.ref(stoa.get(Sheet.class, key)), freshness);
  }

  @Test
  void statesThatAreNotReadLeaveAndComeBack() {
    var limits = Limits.standard().withResidentBytesMax(BYTES_MAX);
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa other = Stoa.open("stoa://127.0.0.1:" + server.port());
        Stoa stoa =
            Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()).withLimits(limits))) {
      var replicas = RemoteService.of(stoa).first().localCopies();
      var views = new ArrayList<Sheet>();
      for (int i = 0; i < OBJECTS; i++) {
        stoa.get(Sheet.class, "s" + i).add(new byte[STATE_BYTES]);
        views.add(view(stoa, "s" + i, i % 2 == 0 ? new View.Cached() : new View.Local()));
      }
      for (int round = 1; round <= 2; round++) {
        for (int i = 0; i < OBJECTS; i++) {
          assertEquals(round, views.get(i).size());
          assertTrue(replicas.bytes() <= BYTES_MAX, "kept: " + replicas.bytes());
          assertTrue(replicas.states() < OBJECTS, "kept: " + replicas.states());
        }
        for (int i = 0; i < OBJECTS; i++) {
          other.get(Sheet.class, "s" + i).add(new byte[0]);
          // A client that calls the object sees the change; its cached views see it afterwards.
          assertEquals(round + 1, stoa.get(Sheet.class, "s" + i).size());
        }
      }
    }
  }

  @Test
  void aStateThatNoMessageHoldsComesInParts() {
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + server.port());
        Stoa later = Stoa.open("stoa://127.0.0.1:" + server.port())) {
      Sheet sheet = stoa.get(Sheet.class, "large");
      Sheet cached = view(stoa, "large", new View.Cached());
      Sheet local = view(stoa, "large", new View.Local());
      assertEquals(1, sheet.add(new byte[1_000]));
      assertEquals(1, cached.size());
      for (int i = 2; i <= 12; i++) {
        assertEquals(i, sheet.add(new byte[1 << 20]));
        assertEquals(i, cached.size());
        assertEquals(i, local.size());
      }
      assertEquals(12, view(later, "large", new View.Local()).size());
      assertTrue(RemoteService.of(later).first().localCopies().bytes() > 11 << 20);
    }
  }

  @Test
  void aStateBeyondTheBoundOfTheClientIsReadWhereItIs() {
    var limits = Limits.standard().withResidentBytesMax(2 << 20);
    try (Server server = ServedEngine.serve(StoaConfig.of("memory:"), 0);
        Stoa stoa =
            Stoa.open(StoaConfig.of("stoa://127.0.0.1:" + server.port()).withLimits(limits))) {
      Sheet sheet = stoa.get(Sheet.class, "large");
      for (int i = 1; i <= 4; i++) assertEquals(i, sheet.add(new byte[1 << 20]));
      assertEquals(4, view(stoa, "large", new View.Local()).size());
      assertEquals(4, view(stoa, "large", new View.Cached()).size());
      assertEquals(0, RemoteService.of(stoa).first().localCopies().bytes());
    }
  }

  @Test
  void aTransactionThatIsOpenWhenItsServerStopsIsLostWhole(@TempDir Path directory)
      throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var network = new Cuts(server.port(), 3, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + network.port())) {
      Sheet sheet = stoa.get(Sheet.class, "s");
      assertEquals(1, sheet.add(new byte[1]));
      try (Transaction transaction = stoa.begin(TxOptions.STANDARD)) {
        assertEquals(2, transaction.on(sheet).add(new byte[1]));
        server.close();
        server = ServedEngine.serve(config, 0);
        network.target(server.port());
        assertEquals(1, sheet.size());
        assertThrows(Unavailable.class, () -> transaction.on(sheet).add(new byte[1]));
      }
      assertEquals(1, sheet.size());
      assertEquals(2, stoa.transact(() -> sheet.add(new byte[1])));
    } finally {
      server.close();
    }
  }

  @Test
  void goesToTheNextAddressWhenTheOneThatItTalkedToStops(@TempDir Path directory) throws Exception {
    var config = StoaConfig.of("file:" + directory);
    Server server = ServedEngine.serve(config, 0);
    try (var first = new Cuts(server.port(), 3, Integer.MAX_VALUE);
        var second = new Cuts(server.port(), 4, Integer.MAX_VALUE);
        Stoa stoa = Stoa.open("stoa://127.0.0.1:" + first.port() + ",127.0.0.1:" + second.port())) {
      assertEquals(1, stoa.get(Sheet.class, "s").add(new byte[1]));
      server.close();
      server = ServedEngine.serve(config, 0);
      second.target(server.port());
      assertEquals(2, stoa.get(Sheet.class, "s").add(new byte[1]));
    } finally {
      server.close();
    }
  }
}
