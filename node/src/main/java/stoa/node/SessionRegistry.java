package stoa.node;

import java.util.Collection;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.StoaException;
import stoa.base.Repeats;
import stoa.objects.KeyService;
import stoa.objects.Sessions;
import stoa.transport.Status;
import stoa.transport.StatusException;
import stoa.wire.proto.ClientHello;

/// The open sessions. Thread-safe.
final class SessionRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(SessionRegistry.class);

  private final ServerConfig config;
  private final Sessions durable;
  private final KeyService keys;
  private final LongSupplier nowNanos;
  private final Supplier<SessionThreads> threads;
  private final Origins origins;
  private final Repeats repeats = new Repeats();
  private final ConcurrentHashMap<Long, Session> sessions = new ConcurrentHashMap<>();

  // The sessions that have ended here, and whose end is not yet written.
  private final Set<Long> unwritten = ConcurrentHashMap.newKeySet();

  /// Restores those of an earlier server, each with a lease that begins now.
  ///
  /// @param origins the open sessions of the whole server
  SessionRegistry(
      ServerConfig config,
      Sessions durable,
      KeyService keys,
      LongSupplier nowNanos,
      Supplier<SessionThreads> threads,
      Origins origins) {
    this.config = config;
    this.durable = durable;
    this.keys = keys;
    this.nowNanos = nowNanos;
    this.threads = threads;
    this.origins = origins;
    for (Sessions.Session found : durable.all()) {
      sessions.put(found.id(), session(found, Session.Recovered.FROM_LOG, Origin.UNKNOWN));
    }
    keys.endAllBut(sessions.keySet());
  }

  private Session session(Sessions.Session found, Session.Recovered recovered, Origin origin) {
    return new Session(found, recovered, origin, config, threads.get(), nowNanos.getAsLong());
  }

  /// Returns the session of a hello, or a new one. May wait for the disk.
  ///
  /// @param origin of the client
  /// @throws stoa.transport.StatusException when it is refused
  Session session(ClientHello hello, Origin origin) {
    if (hello.getSession() != 0) {
      Session known = sessions.get(hello.getSession());
      boolean same =
          known != null
              && !known.isEnded()
              && known.durable().isSecret(hello.getSecret().toByteArray());
      if (known == null || !same) throw unknown(hello);
      return known;
    }
    origins.open(origin);
    try {
      Session opened = session(durable.open(), Session.Recovered.NO, origin);
      sessions.put(opened.id(), opened);
      return opened;
    } finally {
      origins.opened(origin);
    }
  }

  /// Returns why there is no session of an id here. Only the log knows that one has ended: a server
  /// that was paused may take its lease for over, or not know the session, while another server
  /// continues it.
  ///
  /// @throws StoaException when the log cannot be asked
  private StatusException unknown(ClientHello hello) {
    Sessions.Session written = durable.find(hello.getSession());
    boolean lives = written != null && written.isSecret(hello.getSecret().toByteArray());
    Status status =
        lives
            ? Status.of(
                Status.Code.UNAVAILABLE,
                "session " + hello.getSession() + " is not this server's; ask again")
            : Status.of(
                Status.Code.NOT_FOUND,
                "session " + hello.getSession() + " has ended; open another");
    return status.exception();
  }

  /// Records that a session has lost its connection.
  void lost(Session session) {
    if (session.isEnded()) sessions.remove(session.id());
  }

  /// Ends the sessions whose lease is over. May wait for the disk.
  void expire() {
    long now = nowNanos.getAsLong();
    for (Session session : sessions.values()) {
      if (session.expire(now)) letGo(session);
    }
    for (long id : unwritten) {
      try {
        writeEnd(id);
      } catch (StoaException later) {
        LOG.debug("the end of session {} is not written yet: {}", id, later.getMessage());
        return;
      }
    }
  }

  /// Ends a session: it can no longer be found, releases everything, and its end is written. Waits
  /// for the disk.
  ///
  /// @throws StoaException when its end could not be written: the registry tries again, and the
  ///   next server gives it a lease once more
  void end(Session session) {
    if (!session.end()) return;
    letGo(session);
    writeEnd(session.id());
  }

  /// Ends the session of an id, whatever its client does, and its connection. May wait for the
  /// disk.
  ///
  /// @return whether it was open
  boolean evict(long id) {
    Session session = sessions.get(id);
    if (session == null) return false;
    ClientConnection connection = session.connection();
    try {
      end(session);
    } catch (StoaException later) {
      LOG.warn("the end of session {} is not written yet: {}", id, later.getMessage());
    }
    if (connection != null)
      connection.refuse(Status.Code.UNAVAILABLE, "an operator ended the session");
    return true;
  }

  private void letGo(Session session) {
    sessions.remove(session.id());
    try {
      session.release();
    } finally {
      unwritten.add(session.id()); // whatever fails, its end is written
    }
  }

  private void writeEnd(long id) {
    var _ = durable.end(id);
    unwritten.remove(id);
    try {
      keys.endSession(id);
    } catch (StoaException later) {
      // The next start of a server removes them: the session is not open any more.
      repeats.tell("listeners of a session stay for now: " + later.getMessage(), LOG::warn);
    }
  }

  @Nullable Session find(long id) {
    return sessions.get(id);
  }

  Collection<Session> all() {
    return sessions.values();
  }
}
