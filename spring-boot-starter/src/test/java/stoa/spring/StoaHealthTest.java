package stoa.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.endpoint.EndpointAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.availability.ApplicationAvailabilityAutoConfiguration;
import org.springframework.boot.health.actuate.endpoint.HealthEndpoint;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration;
import org.springframework.boot.health.autoconfigure.actuate.endpoint.HealthEndpointAutoConfiguration;
import org.springframework.boot.health.autoconfigure.application.AvailabilityHealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.contributor.HealthContributorAutoConfiguration;
import org.springframework.boot.health.autoconfigure.registry.HealthContributorRegistryAutoConfiguration;
import org.springframework.boot.health.contributor.Health;
import org.springframework.boot.health.contributor.Status;
import org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration;
import org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import stoa.Stoa;
import stoa.metrics.StoaMetrics;
import stoa.spring.fine.Counter;

/// The health of the store, and what is there only with other libraries.
class StoaHealthTest {
  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(
              AutoConfigurations.of(
                  StoaAutoConfiguration.class,
                  StoaHealthAutoConfiguration.class,
                  StoaMetricsAutoConfiguration.class,
                  HealthContributorAutoConfiguration.class,
                  HealthContributorRegistryAutoConfiguration.class,
                  HealthEndpointAutoConfiguration.class,
                  ApplicationAvailabilityAutoConfiguration.class,
                  AvailabilityHealthContributorAutoConfiguration.class,
                  AvailabilityProbesAutoConfiguration.class,
                  EndpointAutoConfiguration.class,
                  MetricsAutoConfiguration.class,
                  CompositeMeterRegistryAutoConfiguration.class,
                  SimpleMetricsExportAutoConfiguration.class))
          .withPropertyValues(
              "stoa.url=memory:",
              "stoa.health.time-max=1m",
              "management.endpoints.web.exposure.include=*");

  @Test
  void isUpWhileTheStoreAnswersAndDownAfterwards() {
    application.run(started -> {
      StoaHealthIndicator indicator = started.getBean(StoaHealthIndicator.class);
      Health up = indicator.health();
      assertThat(up.getStatus()).isEqualTo(Status.UP);
      assertThat(up.getDetails()).containsKeys("url", "answeredInMicros");
      started.getBean(Stoa.class).close();
      assertThat(indicator.health().getStatus()).isEqualTo(Status.DOWN);
    });
  }

  @Test
  void belongsToTheReadinessGroup() {
    application.run(started -> {
      assertThat(isMember(started, "readiness", "stoa")).isTrue();
      assertThat(isMember(started, "readiness", "readinessState")).isTrue();
      assertThat(isMember(started, "liveness", "stoa")).isFalse();
      started.getBean(Stoa.class).close();
      var readiness = started.getBean(HealthEndpoint.class).healthForPath("readiness");
      assertThat(Objects.requireNonNull(readiness).getStatus()).isEqualTo(Status.DOWN);
    });
    application
        .withPropertyValues("stoa.health.readiness=false")
        .run(started -> assertThat(isMember(started, "readiness", "stoa")).isFalse());
  }

  private static boolean isMember(ApplicationContext started, String group, String name) {
    HealthEndpointGroups groups = started.getBean(HealthEndpointGroups.class);
    return Objects.requireNonNull(groups.get(group)).isMember(name);
  }

  @Test
  void canBeDisabled() {
    application
        .withPropertyValues("management.health.stoa.enabled=false")
        .run(started -> {
          assertThat(started).doesNotHaveBean(StoaHealthIndicator.class);
          assertThat(isMember(started, "readiness", "stoa")).isFalse();
        });
  }

  @Test
  void metersAreThereWithARegistry() {
    application.run(started -> {
      assertThat(started).hasSingleBean(TransactionMetrics.class);
      started.getBean(Stoa.class).get(Counter.class, "a").increment();
      started.getBean("stoaMetrics", StoaMetrics.class).refresh();
      var calls = started.getBean(MeterRegistry.class).get("stoa.calls").functionTimers();
      assertThat(calls).isNotEmpty();
    });
  }

  @Test
  void anApplicationStartsWithoutHealthAndMicrometer() {
    new ApplicationContextRunner()
        .withConfiguration(
            AutoConfigurations.of(
                StoaAutoConfiguration.class,
                StoaHealthAutoConfiguration.class,
                StoaMetricsAutoConfiguration.class))
        .withClassLoader(
            new FilteredClassLoader(
                "org.springframework.boot.health",
                "org.springframework.boot.actuate",
                "io.micrometer",
                "stoa.metrics"))
        .withPropertyValues("stoa.url=memory:")
        .run(started -> {
          assertThat(started).hasNotFailed();
          assertThat(started).hasSingleBean(StoaTransactionTemplate.class);
          assertThat(started).doesNotHaveBean("stoaHealthIndicator");
        });
  }
}
