package stoa.front.marshal;

import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// Idle codecs. Thread-safe; its number of places bounds it whatever the number of threads, so that
/// virtual threads cost nothing here.
final class CodecPool {
  private final AtomicReferenceArray<@Nullable ForyCodec> places;
  private final Supplier<ForyCodec> maker;

  CodecPool(int placesMax, Supplier<ForyCodec> maker) {
    this.places = new AtomicReferenceArray<>(Integer.highestOneBit(placesMax));
    this.maker = maker;
  }

  ForyCodec take() {
    int mask = places.length() - 1;
    int start = start();
    for (int i = 0; i <= mask; i++) {
      int place = (start + i) & mask;
      if (places.getPlain(place) == null) continue;
      ForyCodec codec = places.getAndSet(place, null);
      if (codec != null) return codec;
    }
    return maker.get();
  }

  /// Returns a codec to the pool after a call that succeeded; the pool drops it when all places are
  /// taken.
  void give(ForyCodec codec) {
    if (!codec.reusable()) return;
    int mask = places.length() - 1;
    int start = start();
    for (int i = 0; i <= mask; i++) {
      if (places.compareAndSet((start + i) & mask, null, codec)) return;
    }
  }

  private static int start() {
    long id = Thread.currentThread().threadId();
    return (int) (id ^ (id >>> 7));
  }
}
