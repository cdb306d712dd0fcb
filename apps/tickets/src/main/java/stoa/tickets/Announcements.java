package stoa.tickets;

import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import stoa.KeyEvent;
import stoa.KeyListener;
import stoa.ListenerRegistration;
import stoa.ObjectListing;
import stoa.Stoa;
import stoa.StoaException;

/// Tells all instances of the application which shows are sold out, each as a [SoldOut] event of
/// its application context.
///
/// A show remembers whether it was announced. The announcement follows the booking; when a process
/// dies in between, another one announces the show later. So each is announced at least once.
/// Thread-safe.
@Component
public class Announcements implements SmartInitializingSingleton {
  private static final Logger LOG = LoggerFactory.getLogger(Announcements.class);
  private static final String KEY = "tickets/sold-out";

  private final Stoa stoa;
  private final ApplicationEventPublisher events;
  private volatile @Nullable ListenerRegistration listening;

  /// Creates them.
  public Announcements(Stoa stoa, ApplicationEventPublisher events) {
    this.stoa = stoa;
    this.events = events;
  }

  /// Tells everybody when a show is sold out and nobody was told.
  void announce(Show show, String name) {
    if (!show.isToAnnounce()) return;
    stoa.store().put(KEY, new SoldOut(name));
    show.announced();
  }

  @Override
  public void afterSingletonsInstantiated() {
    listen();
  }

  /// Registers again when the server has given up the session, and announces what others left.
  @Scheduled(initialDelay = 10, fixedDelay = 10, timeUnit = TimeUnit.SECONDS)
  void listenAgain() {
    try {
      listen();
    } catch (StoaException later) {
      LOG.warn("announcements wait for the store: {}", later.getMessage());
    }
  }

  private void listen() {
    ListenerRegistration known = listening;
    if (known == null || !known.isOpen()) {
      listening = stoa.store().register(KEY, new Listener(), new SoldOutHandler());
    }
    try (ObjectListing<Show> shows = stoa.list(Show.class)) {
      for (Show show : shows) announce(show, String.valueOf(stoa.ref(show).key()));
    }
  }

  private final class Listener implements KeyListener<SoldOut> {
    @Override
    public void on(KeyEvent<SoldOut> event) {
      events.publishEvent(event.value());
    }

    @Override
    public void ended(StoaException cause) {
      LOG.warn("announcements stop for a while: {}", cause.getMessage());
    }
  }
}
