package stoa.tickets;

import org.jspecify.annotations.Nullable;
import stoa.KeyHandler;

/// Makes an event of each value that says so.
record SoldOutHandler() implements KeyHandler<SoldOut, SoldOut> {
  @Override
  public @Nullable SoldOut handle(Object key, @Nullable SoldOut value, @Nullable SoldOut before) {
    return value;
  }
}
