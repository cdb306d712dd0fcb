package stoa.transport;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32C;

/// The bytes of a connection. Stateless.
///
/// ```
/// first, each way:  "STOA", u8 0, u8 version, CR LF
/// frame:            length of the payload i32, CRC-32C i32 of all the rest, kind u8, stream i32, payload
/// ```
///
/// Numbers are big-endian. The checksum counts the length too.
final class Frames {
  /// The version of the frames.
  static final int VERSION = 1;

  /// The bytes before a payload.
  static final int HEAD = 13;

  /// The most bytes of a frame.
  static final int FRAME_BYTES_MAX = 32 << 10;

  /// The most bytes of a payload.
  static final int PAYLOAD_BYTES_MAX = FRAME_BYTES_MAX - HEAD;

  /// How many bytes of a stream each side may send before the other side allows more.
  static final int WINDOW_BYTES = 1 << 20;

  /// The most bytes of the name of a method and the headers.
  static final int HEADER_BYTES_MAX = 8 << 10;

  /// The most headers of a stream.
  static final int HEADERS_MAX = 64;

  /// The most characters of a reason.
  static final int REASON_MAX = 2_000;

  // ---- kinds

  /// The client begins a stream: method text, count of headers varint, each two texts.
  static final int OPEN = 1;

  /// Bytes of a message, and more follow.
  static final int PART = 2;

  /// The last bytes of a message.
  static final int LAST = 3;

  /// The client will send no more messages.
  static final int FINISH = 4;

  /// The stream is over: code u8, reason text.
  static final int END = 5;

  /// The other side may send more: bytes of frames, varint.
  static final int CREDIT = 6;

  /// Asks for a sign of life.
  static final int PING = 7;

  /// The answer to [#PING].
  static final int PONG = 8;

  /// This end takes no more streams, and closes the connection when those are over: code u8, reason
  /// text.
  static final int GOODBYE = 9;

  private static final byte[] FIRST = {'S', 'T', 'O', 'A', 0, VERSION, '\r', '\n'};

  /// How many bytes come first.
  static final int FIRST_BYTES = 8;

  private static final byte[] HTTP2 = "PRI * HT".getBytes(StandardCharsets.US_ASCII);

  private Frames() {}

  /// Returns what comes first.
  static byte[] first() {
    return FIRST.clone();
  }

  /// Returns whether these are the first bytes of HTTP/2, which clients of gRPC speak.
  static boolean isHttp2(byte[] first) {
    return java.util.Arrays.equals(first, HTTP2);
  }

  /// Returns whether these are first bytes, of any version.
  static boolean isFirst(byte[] first) {
    for (int i = 0; i < FIRST_BYTES; i++) {
      if (i != 5 && first[i] != FIRST[i]) return false;
    }
    return true;
  }

  /// Returns the version in first bytes.
  static int version(byte[] first) {
    return first[5] & 0xFF;
  }

  /// Returns a refusal that a client of HTTP/2 shows to people: empty settings, and a `GOAWAY` with
  /// a reason.
  static byte[] http2Refusal(String reason) {
    byte[] text = reason.getBytes(StandardCharsets.UTF_8);
    var out = ByteBuffer.allocate(9 + 9 + 8 + text.length);
    out.put(new byte[] {0, 0, 0, 4, 0, 0, 0, 0, 0});
    int length = 8 + text.length;
    out.put((byte) (length >> 16)).put((byte) (length >> 8)).put((byte) length);
    out.put((byte) 7).put((byte) 0).putInt(0);
    out.putInt(0).putInt(INADEQUATE_SECURITY).put(text);
    return out.array();
  }

  // Clients of gRPC take it for a refusal that another attempt does not change.
  private static final int INADEQUATE_SECURITY = 0xc;

  /// Writes the head of a frame whose payload is already behind it, from `at` on.
  static void head(ByteBuffer out, int at, int kind, int stream) {
    int length = out.position() - at - HEAD;
    out.putInt(at, length);
    out.put(at + 8, (byte) kind);
    out.putInt(at + 9, stream);
    out.putInt(at + 4, sum(out, at, length));
  }

  /// Writes a frame.
  static void write(ByteBuffer out, int kind, int stream, byte[] payload, int from, int length) {
    int at = out.position();
    out.position(at + HEAD);
    out.put(payload, from, length);
    head(out, at, kind, stream);
  }

  /// Returns the checksum of the frame at a position.
  static int sum(ByteBuffer frame, int at, int length) {
    var sum = new CRC32C();
    var bytes = frame.duplicate();
    sum.update(bytes.limit(at + 4).position(at));
    sum.update(bytes.limit(at + HEAD + length).position(at + 8));
    return (int) sum.getValue();
  }
}
