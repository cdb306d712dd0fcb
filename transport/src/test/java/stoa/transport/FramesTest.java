package stoa.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/// The bytes of frames: the vectors in `docs/wire.md` hold for every implementation.
class FramesTest {
  private static final HexFormat HEX = HexFormat.of();

  private static final String FIRST = "53544f4100010d0a";

  // A client asks a/B with one header, sends "hi", and says that this was all.
  private static final String OPEN = "00000009aaa0ecca010000000103612f4201016b0176";
  private static final String LAST = "000000022111058003000000016869";
  private static final String FINISH = "00000000a9cb55100400000001";
  private static final String END = "00000004bb2a90e705000000010e026e6f";
  private static final String CREDIT = "000000036d70fbe90600000001808040";
  private static final String PING = "00000000139366e70700000000";

  private static String frame(int kind, int stream, byte[] payload) {
    var out = ByteBuffer.allocate(Frames.HEAD + payload.length);
    Frames.write(out, kind, stream, payload, 0, payload.length);
    return HEX.formatHex(out.array());
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.US_ASCII);
  }

  @Test
  void theVectorsHold() {
    assertEquals(FIRST, HEX.formatHex(Frames.first()));
    assertEquals(OPEN, frame(Frames.OPEN, 1, HEX.parseHex("03612f4201016b0176")));
    assertEquals(LAST, frame(Frames.LAST, 1, bytes("hi")));
    assertEquals(FINISH, frame(Frames.FINISH, 1, new byte[0]));
    assertEquals(END, frame(Frames.END, 1, HEX.parseHex("0e026e6f")));
    assertEquals(CREDIT, frame(Frames.CREDIT, 1, HEX.parseHex("808040")));
    assertEquals(PING, frame(Frames.PING, 0, new byte[0]));
  }

  /// A wire that keeps what is sent.
  private static final class Kept implements Connection.Wire {
    private final List<Runnable> tasks = new ArrayList<>();

    @Override
    public void flush() {
      // The test fills.
    }

    @Override
    public void execute(Runnable task) {
      tasks.add(task);
    }

    @Override
    public void cut(Status why) {
      tasks.clear();
    }

    @Override
    public long nanoTime() {
      return 0;
    }

    @Override
    public Peer peer() {
      return Peer.UNKNOWN;
    }
  }

  private static String said(Connection connection) {
    var out = ByteBuffer.allocate(64 << 10);
    while (connection.fill(out)) {}
    return HEX.formatHex(out.array(), 0, out.position());
  }

  @Test
  void aConnectionSaysTheVectors() {
    var answers = new ArrayList<String>();
    Receiver hears =
        new Receiver() {
          @Override
          public void message(byte[] message) {
            answers.add(new String(message, StandardCharsets.US_ASCII));
          }

          @Override
          public void over(Status status) {
            answers.add(status.toString());
          }
        };
    var client = new Connection(new Kept(), ConnectionLimits.DEFAULT, null, () -> {});
    client.connected();
    Stream stream = client.open("a/B", Map.of("k", "v"), hears);
    stream.request(1);
    stream.send(bytes("hi"));
    stream.finish();
    assertEquals(FIRST + OPEN + LAST + FINISH, said(client));
    client.received(ByteBuffer.wrap(HEX.parseHex(FIRST + LAST + END)));
    assertEquals(List.of("hi", "UNAVAILABLE: no"), answers);
    assertTrue(stream.isOver());

    var taken = new ArrayList<String>();
    StreamAcceptor service =
        began -> {
          taken.add(began.method() + began.headers());
          began.request(1);
          return new Receiver() {
            @Override
            public void message(byte[] message) {
              began.send(message);
            }

            @Override
            public void finished() {
              began.end(Status.of(Status.Code.UNAVAILABLE, "no"));
            }

            @Override
            public void over(Status status) {
              taken.add(status.toString());
            }
          };
        };
    var server = new Connection(new Kept(), ConnectionLimits.DEFAULT, service, () -> {});
    server.received(ByteBuffer.wrap(HEX.parseHex(FIRST + OPEN + LAST + FINISH)));
    assertEquals(FIRST + LAST + END, said(server));
    assertEquals(List.of("a/B{k=v}"), taken);
  }
}
