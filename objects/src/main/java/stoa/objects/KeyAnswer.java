package stoa.objects;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Encoder;
import stoa.base.TraceParent;

/// The answers of a key of the listenable key-value store.
///
/// ```
/// encoded:  1 u8, was u8                                            done
///           2 u8, the throwable as the marshaller writes it         refused
///           3 u8, micros varint                                     ends
/// ```
sealed interface KeyAnswer extends Answer {
  /// The key has executed a put.
  ///
  /// @param was whether there was a value or listener that the put replaces or removes
  record Done(boolean was) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      return new byte[] {1, (byte) (was ? 1 : 0)};
    }
  }

  /// The key refuses a put.
  ///
  /// @param thrown the exception, encoded
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Refused(byte[] thrown) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      return new Encoder(thrown.length + 1).u8(2).raw(thrown).toBytes();
    }
  }

  /// The key has looked whether its value ends.
  ///
  /// @param nextMicros when to look again; 0 when nothing ends any more
  record Ends(long nextMicros) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      return new Encoder(10).u8(3).varint(nextMicros).toBytes();
    }
  }

  /// The value. The log never contains it.
  ///
  /// @param value encoded
  record Found(byte @Nullable [] value) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      throw new UnsupportedOperationException("a question is not logged");
    }
  }

  /// Events that wait for listeners. The log never contains them.
  record Waiting(List<Batch> batches) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      throw new UnsupportedOperationException("a question is not logged");
    }
  }

  /// The waiting events of one listener.
  ///
  /// @param listening the listener
  /// @param known whether the key has this listener; false after its removal
  /// @param first the number of the first event
  /// @param events encoded
  /// @param traces where the puts of some of these events are recorded, by the number of the event
  /// @param more whether there are further events
  /// @param ended why no events follow these, encoded; null when some may follow. The listener
  ///   acknowledges it like an event, with the number after the last
  @SuppressWarnings("ArrayRecordComponent") // a carrier that no code compares
  record Batch(
      ListenerId listening,
      boolean known,
      long first,
      List<byte[]> events,
      Map<Long, TraceParent> traces,
      boolean more,
      byte @Nullable [] ended) {}
}
