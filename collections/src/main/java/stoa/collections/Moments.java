package stoa.collections;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import stoa.LogAddress;
import stoa.Stoa;
import stoa.Transaction;
import stoa.TxOptions;
import stoa.spi.Host;

/// How a composed collection makes several calls at one moment (vCorfu, figure 6).
final class Moments {
  private Moments() {}

  static boolean isTransacting(Stoa stoa) {
    return stoa instanceof Host host && host.isTransacting();
  }

  /// Makes calls that change something, all or none.
  static <R extends @Nullable Object> R write(Stoa stoa, Supplier<R> calls) {
    return stoa.<R, RuntimeException>transact(calls::get);
  }

  /// Makes calls that only read.
  static <R extends @Nullable Object> R read(Stoa stoa, Supplier<R> calls) {
    if (isTransacting(stoa)) return calls.get();
    return stoa.<R, RuntimeException>transact(TxOptions.reading(), calls::get);
  }

  /// Pages of several objects, all as of the moment of the first page, or of the transaction
  /// around.
  static PageSource pages(Stoa stoa, Paged composed) {
    return new OfMoment(stoa, composed);
  }

  private static final class OfMoment implements PageSource {
    private final Stoa stoa;
    private final Paged composed;
    private @Nullable LogAddress moment;

    private OfMoment(Stoa stoa, Paged composed) {
      this.stoa = stoa;
      this.composed = composed;
    }

    @Override
    public Page read(@Nullable Object from, int max) {
      if (isTransacting(stoa)) return page(from, max);
      LogAddress at = moment;
      if (at == null) {
        try (Transaction now = stoa.begin(TxOptions.reading())) {
          at = now.at();
        }
        moment = at;
      }
      return stoa.<Page, RuntimeException>transact(TxOptions.readingAt(at), () -> page(from, max));
    }

    private Page page(@Nullable Object from, int max) {
      return java.util.Objects.requireNonNull(composed.page(Paged.ANY, from, max));
    }
  }
}
