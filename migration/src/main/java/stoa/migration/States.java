package stoa.migration;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.Inflater;
import stoa.Corrupt;
import stoa.base.Decoder;
import stoa.base.Encoder;
import stoa.front.PlacedObject;
import stoa.migration.core.TreeNode;

/// The form in which states travel and are stored: compressed, unless they are small (section 8.1).
/// Stateless.
///
/// ```
/// 0 u8, the state                                small, or without redundancy
/// 1 u8, varint the length, the state deflated
/// nothing                                        there is no object
/// 2 u8, varint the life, one of these            of a life that is not the first
/// ```
final class States {
  /// The state of an object.
  ///
  /// @param life the generation in the store to which it belongs, or which it would begin
  /// @param bytes the marshaller's bytes; empty when there is no object: it was never constructed,
  ///   or was deleted
  record State(long life, byte[] bytes) {
    boolean exists() {
      return bytes.length > 0;
    }
  }

  /// Reads the lives of objects in packed states.
  static final TreeNode.Lives LIVES =
      new TreeNode.Lives() {
        @Override
        public boolean isOver(byte[] offered, byte[] stored) {
          long life = life(stored);
          return life(offered) < life
              || (life(offered) == life && !exists(offered) && exists(stored));
        }

        @Override
        public boolean isAbsent(byte[] state) {
          return !exists(state);
        }
      };

  private static final int SMALL_BYTES = 512;
  private static final int BYTES_MAX = 256 << 20;

  // The most bytes that one byte of a deflated state can become.
  private static final int INFLATION_MAX = 1_032;

  private static final int SAMPLE_BYTES = 4 << 10;

  private States() {}

  static byte[] packed(State state) {
    byte[] packed = packed(state.bytes);
    if (state.life == PlacedObject.FIRST_LIFE) return packed;
    return new Encoder(packed.length + 11).u8(2).varint(state.life).raw(packed).toBytes();
  }

  private static byte[] packed(byte[] state) {
    if (state.length == 0) return state;
    if (state.length > SMALL_BYTES && isWorthIt(state)) {
      byte[] deflated = deflated(state);
      if (deflated.length < state.length) {
        return new Encoder(deflated.length + 8).u8(1).varint(state.length).raw(deflated).toBytes();
      }
    }
    return new Encoder(state.length + 1).u8(0).raw(state).toBytes();
  }

  /* Whether compression shrinks the first bytes of a large state. */
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

  static State unpacked(byte[] packed) {
    if (packed.length == 0 || packed[0] != 2) {
      return new State(PlacedObject.FIRST_LIFE, unpacked(packed, 0));
    }
    var in = new Decoder(packed);
    int _ = in.u8();
    long life = in.varint();
    return new State(life, unpacked(packed, in.position()));
  }

  private static long life(byte[] packed) {
    if (packed.length == 0 || packed[0] != 2) return PlacedObject.FIRST_LIFE;
    var in = new Decoder(packed);
    int _ = in.u8();
    return in.varint();
  }

  private static boolean exists(byte[] packed) {
    if (packed.length == 0 || packed[0] != 2) return packed.length > 0;
    var in = new Decoder(packed);
    int _ = in.u8();
    long _ = in.varint();
    return in.remaining() > 0;
  }

  private static byte[] unpacked(byte[] packed, int from) {
    if (packed.length == from) return new byte[0];
    if (packed[from] == 0) return Arrays.copyOfRange(packed, from + 1, packed.length);
    var in = new Decoder(Arrays.copyOfRange(packed, from + 1, packed.length));
    long bytes = in.varint();
    if (bytes < 0 || bytes > BYTES_MAX) {
      throw new Corrupt("a state of " + bytes + " bytes; at most " + BYTES_MAX + " can be");
    }
    // No data deflates to less: a claim of more would take memory that it does not fill.
    if (bytes > (in.remaining() + 1L) * INFLATION_MAX) {
      throw new Corrupt("a state of " + bytes + " bytes is in " + in.remaining() + " bytes");
    }
    byte[] state = new byte[(int) bytes];
    try (var inflater = new Inflater(true)) {
      inflater.setInput(packed, packed.length - in.remaining(), in.remaining());
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
