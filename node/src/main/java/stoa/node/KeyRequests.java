package stoa.node;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;
import stoa.LimitExceeded;
import stoa.ListenerLimits;
import stoa.UnknownOutcome;
import stoa.base.Key;
import stoa.front.types.Keys;
import stoa.front.types.NotBrief;
import stoa.objects.KeyService;
import stoa.objects.ObjectService;
import stoa.wire.proto.Answer;
import stoa.wire.proto.Heard;
import stoa.wire.proto.KeyGet;
import stoa.wire.proto.KeyPut;
import stoa.wire.proto.Listen;
import stoa.wire.proto.Unlisten;

/// Executes requests on the listenable key-value store. Thread-safe.
final class KeyRequests {
  // The most listeners of one session, which bounds what waits for them here.
  private static final int LISTENERS_MAX = 10_000;

  private final ObjectService service;
  private final KeyService keys;

  KeyRequests(ObjectService service) {
    this.service = service;
    this.keys = service.keys();
  }

  /// Begins a put, after earlier requests on the same key.
  void put(PendingRequest asked, KeyPut put) {
    if (asked.isAgain()) {
      asked.session().threads.keys().slow(put.getKey(), () -> again(asked, put));
    } else {
      behind(asked, put.getKey(), () -> beginBriefly(asked, put));
    }
  }

  private interface Beginning {
    stoa.store.running.Request begin(Key key, byte @Nullable [] value);
  }

  /// Begins a put; hands it on when decoding its value would take long.
  private void beginBriefly(PendingRequest asked, KeyPut put) {
    try {
      begin(
          asked,
          put,
          (key, value) ->
              keys.putBriefly(key, value, put.getStayMicros(), asked.timeLeft(), asked.id()));
    } catch (NotBrief later) {
      asked.session().threads.keys().slow(put.getKey(), () -> begin(asked, put));
    }
  }

  private void begin(PendingRequest asked, KeyPut put) {
    begin(
        asked,
        put,
        (key, value) -> keys.put(key, value, put.getStayMicros(), asked.timeLeft(), asked.id()));
  }

  private void begin(PendingRequest asked, KeyPut put, Beginning beginning) {
    try {
      asked.checkTime();
      Key key = keys.key(put.getKey().toByteArray());
      byte[] value = put.getPresent() ? put.getValue().toByteArray() : null;
      asked
          .traced(() -> beginning.begin(key, value))
          .whenDone(settled -> {
            try {
              asked.answer(Forms.done(keys.was(settled) ? 1 : 0).setReach(settled.reach()));
            } catch (RuntimeException failed) {
              asked.fail(failed);
            }
          });
    } catch (NotBrief later) {
      throw later;
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  /// Handles a put that came to an earlier server: it may be in the log.
  private void again(PendingRequest asked, KeyPut put) {
    try {
      Key key = keys.key(put.getKey().toByteArray());
      Boolean earlier = earlier(asked, key);
      if (earlier != null) {
        asked.answer(Forms.done(earlier ? 1 : 0).setReach(service.moment()));
        return;
      }
    } catch (RuntimeException | LinkageError | StackOverflowError failed) {
      asked.fail(failed);
      return;
    }
    begin(asked, put);
  }

  private @Nullable Boolean earlier(PendingRequest asked, Key key) {
    try {
      return keys.earlier(key, asked.id(), asked.since());
    } catch (stoa.TooOld old) {
      throw new UnknownOutcome("what became of the put is too long ago to be known", old);
    }
  }

  /// Begins a question, after earlier requests on the same key.
  void get(PendingRequest asked, KeyGet get) {
    behind(asked, get.getKey(), () -> begin(asked, get));
  }

  /// Runs a quick task, unless the key is of a user's class, after earlier requests on the same
  /// key.
  private static void behind(PendingRequest asked, ByteString key, Runnable task) {
    var lanes = asked.session().threads.keys();
    if (Keys.isPlain(key.toByteArray())) lanes.quick(key, task);
    else lanes.slow(key, task);
  }

  private void begin(PendingRequest asked, KeyGet get) {
    try {
      asked.checkTime();
      Key key = keys.key(get.getKey().toByteArray());
      asked
          .traced(() -> keys.get(key, asked.timeLeft(), asked.id()))
          .whenDone(settled -> {
            try {
              asked.answer(Forms.data(keys.found(settled), settled.reach()));
            } catch (RuntimeException failed) {
              asked.fail(failed);
            }
          });
    } catch (RuntimeException | LinkageError | StackOverflowError refused) {
      asked.fail(refused);
    }
  }

  // ---- listeners

  /// Begins to register a listener, after earlier requests for the same one.
  void listen(PendingRequest asked, Listen listen) {
    asked
        .session()
        .threads
        .listeners()
        .slow(listen.getListener(), () -> asked.attempt(() -> listen(asked.session(), listen)));
  }

  /// Begins to remove a listener, after earlier requests for the same one.
  void unlisten(PendingRequest asked, Unlisten unlisten) {
    asked
        .session()
        .threads
        .listeners()
        .slow(
            unlisten.getListener(), () -> asked.attempt(() -> unlisten(asked.session(), unlisten)));
  }

  private Answer.Builder listen(Session session, Listen listen) {
    ClientListener before = session.listeners.get(listen.getListener());
    Key key = keys.key(listen.getKey().toByteArray());
    if (before != null && !before.key().equals(key)) {
      throw new IllegalArgumentException(
          "listener " + listen.getListener() + " listens to another key; choose another number");
    }
    if (session.listeners.size() >= LISTENERS_MAX) {
      throw new LimitExceeded("the session has " + LISTENERS_MAX + " listeners; close some");
    }
    var limits = new ListenerLimits(listen.getPendingEventsMax(), listen.getPendingBytesMax());
    var listener =
        keys.listen(
            session.id(), listen.getListener(), key, listen.getHandler().toByteArray(), limits);
    var added = new ClientListener(session, listen.getListener(), key, listener);
    session.listeners.put(listen.getListener(), added);
    if (session.isEnded()) {
      // The session ended meanwhile, and may not have ended this listener.
      keys.endSession(session.id());
      throw new stoa.Closed("the session has ended");
    }
    added.send();
    return Forms.done();
  }

  private Answer.Builder unlisten(Session session, Unlisten unlisten) {
    ClientListener gone = session.listeners.remove(unlisten.getListener());
    if (gone != null) gone.listener().close();
    else
      keys.unlisten(
          session.id(), unlisten.getListener(), keys.key(unlisten.getKey().toByteArray()));
    return Forms.done();
  }

  /// Records that a listener has handled its events up to a number. Quick.
  void heard(Session session, Heard heard) {
    ClientListener listener = session.listeners.get(heard.getListener());
    if (listener != null) listener.listener().heard(heard.getNumber());
  }
}
