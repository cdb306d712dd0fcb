package stoa.objects;

import stoa.base.Decoder;
import stoa.base.Encoder;

/// Names a listener of a key: the session whose it is, and its number there.
///
/// @param session a client's session, or less than 0 for a process that has the store open itself:
///   the epoch in which it does, negated
/// @param listener chosen by the session
record Listening(long session, long listener) {
  Encoder write(Encoder out) {
    return out.i64(session).varint(listener);
  }

  static Listening read(Decoder in) {
    return new Listening(in.i64(), in.varint());
  }
}
