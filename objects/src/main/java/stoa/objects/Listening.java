package stoa.objects;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// The name of a listener of a key: its session, and its number in the session.
///
/// @param session a client's session, or the negated epoch of a process that has the store open
///   itself
/// @param listener chosen by the session
record Listening(long session, long listener) {
  Encoder write(Encoder out) {
    return out.i64(session).varint(listener);
  }

  static Listening read(Decoder in) {
    return new Listening(in.i64(), in.varint());
  }
}
