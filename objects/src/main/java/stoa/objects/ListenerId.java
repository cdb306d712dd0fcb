package stoa.objects;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// The name of a listener of a key: its session, and its number in the session.
///
/// @param session a client's session, or the negated epoch of a process that has the store open
///   itself
/// @param listener chosen by the session
record ListenerId(long session, long listener) {
  Encoder write(Encoder out) {
    return out.i64(session).varint(listener);
  }

  static ListenerId read(Decoder in) {
    return new ListenerId(in.i64(), in.varint());
  }
}
