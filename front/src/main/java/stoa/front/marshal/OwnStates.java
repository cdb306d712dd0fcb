package stoa.front.marshal;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import stoa.Corrupt;
import stoa.LimitExceeded;
import stoa.NotShareable;
import stoa.StoaException;
import stoa.base.ThrowableText;
import stoa.spi.OwnState;
import stoa.spi.StateInput;
import stoa.spi.StateOutput;

/// The encoding of objects that write their state themselves.
///
/// Each value has an encoding of its own, as of [Marshaller#value], so that the bytes depend on the
/// values only, not on which values happen to be one object.
final class OwnStates {
  private static final byte GRAPH = 0x1F;

  private OwnStates() {}

  static byte[] write(Marshaller marshaller, OwnState object, byte format, int bytesMax) {
    var out = new Output(marshaller, bytesMax);
    out.bytes.put(format);
    try {
      object.store(out);
    } catch (StoaException known) {
      throw known;
    } catch (RuntimeException failed) {
      throw new NotShareable(
          object.getClass().getName() + ".store failed: " + ThrowableText.of(failed), failed);
    }
    return out.bytes.toBytes();
  }

  static void read(Marshaller marshaller, OwnState object, byte[] bytes, int from, int to) {
    var in = new Input(marshaller, bytes, from, to);
    try {
      object.restore(in);
      in.bytes.end();
    } catch (StoaException known) {
      throw known;
    } catch (RuntimeException failed) {
      throw new Corrupt(
          "the stored state of a "
              + object.getClass().getName()
              + " cannot be read: "
              + ThrowableText.of(failed),
          failed);
    }
  }

  private static final class Output implements StateOutput {
    private final Marshaller marshaller;
    private final int bytesMax;
    private final Simple.Output bytes = new Simple.Output();

    private Output(Marshaller marshaller, int bytesMax) {
      this.marshaller = marshaller;
      this.bytesMax = bytesMax;
    }

    @Override
    public void number(long number) {
      bytes.number(number);
    }

    @Override
    public void value(@Nullable Object value) {
      byte[] encoded = marshaller.value(value);
      if (bytes.length() > bytesMax - encoded.length - 10) {
        throw new LimitExceeded(
            "a state takes more than " + bytes.length() + " bytes; bytesMax is " + bytesMax);
      }
      bytes.put(encoded[0]);
      if (encoded[0] == GRAPH) bytes.number(encoded.length - 1L);
      bytes.raw(encoded, 1, encoded.length - 1);
    }

    @Override
    public int compare(@Nullable Object a, @Nullable Object b) {
      return Arrays.compareUnsigned(marshaller.value(a), marshaller.value(b));
    }
  }

  private static final class Input implements StateInput {
    private final Marshaller marshaller;
    private final byte[] array;
    private final Simple.Input bytes;

    private Input(Marshaller marshaller, byte[] array, int from, int to) {
      this.marshaller = marshaller;
      this.array = array;
      this.bytes = new Simple.Input(array, from, to);
    }

    @Override
    public long number() {
      return bytes.number();
    }

    @Override
    public int count() {
      long count = bytes.number();
      if (count < 0 || count > bytes.left()) {
        throw new Corrupt("a count of " + count + " before " + bytes.left() + " bytes");
      }
      return (int) count;
    }

    @Override
    public @Nullable Object value() {
      byte format = bytes.get();
      if (format != GRAPH) return marshaller.simple(format, bytes);
      long length = bytes.number();
      int from = bytes.at();
      bytes.skip(length);
      return marshaller.graph(array, from, bytes.at());
    }
  }
}
