package stoa.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import stoa.Stoa;
import stoa.node.Server;
import stoa.node.ServerConfig;
import stoa.objects.ObjectService;
import stoa.spring.fine.Counter;

/// An application whose store is at a server.
class ServedStoreTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(StoaAutoConfiguration.class));

  /// A server on whose class path one class is missing.
  private static Server serve() throws IOException {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(new FilteredClassLoader(Counter.class));
    try {
      Stoa store = Stoa.open("memory:");
      return Server.start(ServerConfig.of("127.0.0.1", 0), ObjectService.of(store, _ -> true));
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  @Test
  void failsAtTheStartWhenTheServerDoesNotHaveAClass() throws IOException {
    try (Server server = serve()) {
      application
          .withPropertyValues(
              "stoa.url=stoa://127.0.0.1:" + server.port(), "stoa.scan.packages=stoa.spring.fine")
          .run(started ->
              assertThat(started.getStartupFailure())
                  .rootCause()
                  .hasMessageContaining("refuses 1 of 2")
                  .hasMessageContaining(Counter.class.getName()));
    }
  }

  @Test
  void isDownWithinItsTimeWhenTheServerIsGone() throws IOException {
    Server server = serve();
    try {
      application
          .withPropertyValues(
              "stoa.url=stoa://127.0.0.1:" + server.port(), "stoa.limits.close-time-max=100ms")
          .run(started -> {
            Stoa stoa = started.getBean(Stoa.class);
            var patient = new StoaHealthIndicator(stoa, "", Duration.ofMinutes(1));
            assertThat(patient.health().getStatus()).isEqualTo(Status.UP);
            server.close();
            var hasty = new StoaHealthIndicator(stoa, "", Duration.ofMillis(200));
            assertThat(hasty.health().getStatus()).isEqualTo(Status.DOWN);
            assertThat(hasty.health().getStatus()).isEqualTo(Status.DOWN);
          });
    } finally {
      server.close();
    }
  }
}
