package stoa.objects;

import java.util.List;
import org.jspecify.annotations.Nullable;
import stoa.base.Answer;
import stoa.base.Encoder;

/// What a key of the listenable key-value store answers.
///
/// ```
/// encoded:  1 u8, was u8                                            it is done
///           2 u8, the throwable as the marshaller writes it         it is refused
/// ```
sealed interface KeyAnswer extends Answer {
  /// A put is done.
  ///
  /// @param was whether there was what it puts an end to
  record Done(boolean was) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      return new byte[] {1, (byte) (was ? 1 : 0)};
    }
  }

  /// A put is refused.
  ///
  /// @param thrown the exception, encoded
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  record Refused(byte[] thrown) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      return new Encoder(thrown.length + 1).u8(2).raw(thrown).toBytes();
    }
  }

  /// The value; nothing logs it.
  ///
  /// @param value encoded
  record Found(byte @Nullable [] value) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      throw new UnsupportedOperationException("a question is not logged");
    }
  }

  /// Events that wait for listeners; nothing logs them.
  record Waiting(List<Batch> batches) implements KeyAnswer {
    @Override
    public byte[] encoded() {
      throw new UnsupportedOperationException("a question is not logged");
    }
  }

  /// What waits for one listener.
  ///
  /// @param listening whose
  /// @param known whether the key has this listener; it may have been taken out
  /// @param first the number of the first event
  /// @param events encoded
  /// @param more whether there are further events
  /// @param ended why there will be no more behind these, encoded; null when there may be. It is
  ///   heard like an event, with the number after the last
  @SuppressWarnings("ArrayRecordComponent") // a carrier, compared by nobody
  record Batch(
      Listening listening,
      boolean known,
      long first,
      List<byte[]> events,
      boolean more,
      byte @Nullable [] ended) {}
}
