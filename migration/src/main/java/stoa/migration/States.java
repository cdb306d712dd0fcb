package stoa.migration;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import stoa.Corrupt;
import stoa.base.Encoder;

/// How states travel and are kept: compressed, unless they are small (section 8.1). Stateless.
///
/// ```
/// 0 u8, the state                                small, or of no redundancy
/// 1 u8, varint the length, the state deflated
/// nothing                                        the object was never constructed
/// ```
final class States {
  private static final int SMALL_BYTES = 512;
  private static final int BYTES_MAX = 256 << 20;
  private static final int SAMPLE_BYTES = 4 << 10;

  private States() {}

  static byte[] packed(byte[] state) {
    if (state.length == 0) return state;
    if (state.length > SMALL_BYTES && isWorthIt(state)) {
      byte[] deflated = deflated(state);
      if (deflated.length < state.length) {
        return new Encoder(deflated.length + 8).u8(1).varint(state.length).raw(deflated).toBytes();
      }
    }
    return new Encoder(state.length + 1).u8(0).raw(state).toBytes();
  }

  /* Whether the first bytes of a large state become fewer. */
  private static boolean isWorthIt(byte[] state) {
    if (state.length <= 4 * SAMPLE_BYTES) return true;
    return deflated(Arrays.copyOf(state, SAMPLE_BYTES)).length < SAMPLE_BYTES * 9 / 10;
  }

  private static byte[] deflated(byte[] state) {
    try (var deflater = new Deflater(Deflater.BEST_SPEED, true)) {
      deflater.setInput(state);
      deflater.finish();
      var out = new ByteArrayOutputStream(state.length / 2);
      byte[] buffer = new byte[Math.min(state.length, 8 << 10)];
      while (!deflater.finished()) out.write(buffer, 0, deflater.deflate(buffer));
      return out.toByteArray();
    }
  }

  static byte[] unpacked(byte[] packed) {
    if (packed.length == 0) return packed;
    if (packed[0] == 0) return Arrays.copyOfRange(packed, 1, packed.length);
    var in = new stoa.base.Decoder(packed);
    int _ = in.u8();
    long bytes = in.varint();
    if (bytes < 0 || bytes > BYTES_MAX) {
      throw new Corrupt("a state of " + bytes + " bytes; at most " + BYTES_MAX + " can be");
    }
    byte[] state = new byte[(int) bytes];
    try (var inflater = new Inflater(true)) {
      inflater.setInput(packed, in.position(), packed.length - in.position());
      int length = 0;
      while (length < state.length) {
        int more = inflater.inflate(state, length, state.length - length);
        if (more == 0) throw new Corrupt("a state of " + state.length + " bytes ends at " + length);
        length += more;
      }
      return state;
    } catch (DataFormatException e) {
      throw new Corrupt("a state that is not compressed as it says: " + e.getMessage());
    }
  }
}
