package stoa.tickets;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/// Tells browsers which shows are sold out, by server-sent events.
@RestController
final class EventsController {
  private static final Logger LOG = LoggerFactory.getLogger(EventsController.class);
  private static final int BROWSERS_MAX = 1_000;

  private final Set<SseEmitter> browsers = ConcurrentHashMap.newKeySet();

  @GetMapping("/events")
  SseEmitter events() {
    if (browsers.size() >= BROWSERS_MAX) {
      throw new ResponseStatusException(
          HttpStatus.SERVICE_UNAVAILABLE, BROWSERS_MAX + " browsers listen already");
    }
    var browser = new SseEmitter(0L);
    browser.onCompletion(() -> browsers.remove(browser));
    browser.onError(_ -> browsers.remove(browser));
    browsers.add(browser);
    return browser;
  }

  @EventListener
  void soldOut(SoldOut event) {
    LOG.info("{} is sold out", event.show());
    browsers.removeIf(browser -> !isSent(event, browser));
  }

  /// Without this, the end of the application would wait for them.
  @EventListener
  void ending(ContextClosedEvent event) {
    browsers.forEach(SseEmitter::complete);
  }

  private static boolean isSent(SoldOut event, SseEmitter browser) {
    try {
      browser.send(SseEmitter.event().name("sold-out").data(event));
      return true;
    } catch (IOException | IllegalStateException gone) {
      return false;
    }
  }
}
