package stoa;

import java.util.Objects;

/// The answer of a listener's handler to a put.
///
/// @param key the key of the put
/// @param value the answer of the handler
/// @param number one more than that of the last event; the first event of a registration has 1
/// @param <W> the class of the value
public record KeyEvent<W>(Object key, W value, long number) {
  public KeyEvent {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
  }
}
