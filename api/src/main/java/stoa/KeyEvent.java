package stoa;

import java.util.Objects;

/// What a handler made of a put, for its listener.
///
/// @param key under which something was put
/// @param value what the handler answered
/// @param number one more than that of the event before; the first one of a registration has 1
/// @param <W> the class of the value
public record KeyEvent<W>(Object key, W value, long number) {
  public KeyEvent {
    Objects.requireNonNull(key, "key");
    Objects.requireNonNull(value, "value");
  }
}
