package stoa.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Repository;
import stoa.AlreadyExists;
import stoa.Closed;
import stoa.Keep;
import stoa.Limits;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.spring.fine.Counter;
import stoa.spring.fine.Tally;

/// The beans of the starter, and how an application starts and stops with them.
class StoaAutoConfigurationTest {
  private static final String FINE = "stoa.scan.packages=stoa.spring.fine";

  private final ApplicationContextRunner application =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(StoaAutoConfiguration.class));

  @Test
  void theUrlChoosesTheStore(@TempDir Path directory) {
    var stored = application.withPropertyValues("stoa.url=file:" + directory, FINE);
    stored.run(started ->
        assertThat(started.getBean(Stoa.class).get(Counter.class, "a").increment()).isEqualTo(1));
    stored.run(again ->
        assertThat(again.getBean(Stoa.class).get(Counter.class, "a").value()).isEqualTo(1));
  }

  @Test
  void closesTheStoreWithTheApplication() {
    var opened = new Stoa[1];
    application
        .withPropertyValues("stoa.url=memory:", FINE)
        .run(started -> opened[0] = started.getBean(Stoa.class));
    Counter counter = opened[0].get(Counter.class, "a");
    assertThrows(Closed.class, counter::increment);
  }

  @Configuration
  static class Empty {}

  @Test
  void theLibraryOfClustersLogsNothingUnlessTheApplicationSaysSo() {
    var started = new SpringApplication(Empty.class);
    started.setWebApplicationType(WebApplicationType.NONE);
    String level = "logging.level.io.microraft";
    try (var running = started.run()) {
      assertThat(running.getEnvironment().getProperty(level)).isEqualTo("off");
    }
    try (var running = started.run("--" + level + "=warn")) {
      assertThat(running.getEnvironment().getProperty(level)).isEqualTo("warn");
    }
  }

  @Test
  void refusesToStartWithoutAUrl() {
    application.run(started ->
        assertThat(failure(started).remedy())
            .contains("Set stoa.url to memory: or file:DIRECTORY"));
  }

  @Test
  void saysWhichDependencyAUrlNeeds() {
    application
        .withPropertyValues("stoa.url=carrier-pigeon:loft")
        .run(started -> {
          StoaStartFailure failure = failure(started);
          assertThat(failure.description()).contains("carrier-pigeon:loft");
          assertThat(failure.remedy()).contains("stoa-embedded").contains("stoa-client");
        });
  }

  @Test
  void namesAllClassesThatTheStoreRefuses() {
    application
        .withPropertyValues("stoa.url=memory:", "stoa.scan.packages=stoa.spring.refused")
        .run(started -> {
          StoaStartFailure failure = failure(started);
          assertThat(failure.description())
              .contains("refuses 2 of 3 shared classes")
              .contains("Broken$Clock")
              .contains("Broken$Sealed is final");
          assertThat(new StoaStartFailureAnalyzer().analyze(failure, failure).getDescription())
              .isEqualTo(failure.description());
        });
  }

  @Test
  void startsWithThoseClassesWhenToldNotToScan() {
    application
        .withPropertyValues(
            "stoa.url=memory:", "stoa.scan.packages=stoa.spring.refused", "stoa.scan.enabled=false")
        .run(started -> assertThat(started).hasNotFailed());
  }

  @Test
  void findsInterfacesAndChecksThem() {
    application
        .withPropertyValues("stoa.url=memory:", FINE)
        .run(started ->
            assertThat(started.getBean(Stoa.class).get(Tally.class, "a").add()).isEqualTo(1));
  }

  @Test
  void propertiesSayHowToOpenTheStore() {
    application
        .withPropertyValues(
            "stoa.url=memory:",
            "stoa.types=java.time.LocalDate",
            "stoa.keep.age=2h",
            "stoa.limits.call-time-max=3s",
            "stoa.limits.call-bytes-max=64KB",
            "stoa.limits.close-time-max=1s",
            "stoa.security.token=sesame",
            "stoa.membership.locality=eu-west/rack-3",
            "stoa.transaction.attempts-max=7",
            "stoa.transaction.total-time-max=4s")
        .run(started -> {
          StoaConfig config = started.getBean(StoaConfig.class);
          assertThat(config.types()).containsExactly(java.time.LocalDate.class);
          assertThat(config.keep()).isEqualTo(Keep.age(Duration.ofHours(2)));
          assertThat(config.limits())
              .isEqualTo(
                  Limits.standard()
                      .withCallTimeMax(Duration.ofSeconds(3))
                      .withCallBytesMax(65_536)
                      .withCloseTimeMax(Duration.ofSeconds(1)));
          assertThat(config.security().token()).isEqualTo("sesame");
          assertThat(config.membership().locality().toString()).contains("rack-3");
          assertThat(started.getBean(StoaProperties.class).toString()).doesNotContain("sesame");
          var options = started.getBean(StoaTransactionTemplate.class).options();
          assertThat(options.attemptsMax()).isEqualTo(7);
          assertThat(options.totalTimeMax()).isEqualTo(Duration.ofSeconds(4));
        });
  }

  @Test
  void aCustomizerHasTheLastWord() {
    application
        .withPropertyValues("stoa.url=memory:", "stoa.keep.versions=5")
        .withBean(StoaConfigCustomizer.class, () -> config -> config.withKeep(Keep.versions(6)))
        .run(started ->
            assertThat(started.getBean(StoaConfig.class).keep()).isEqualTo(Keep.versions(6)));
  }

  @Test
  void aStoreOfTheApplicationsOwnNeedsNoUrl() {
    application
        .withBean(Stoa.class, () -> Stoa.open("memory:"))
        .run(started -> {
          assertThat(started).doesNotHaveBean(StoaConfig.class);
          assertThat(started.getBean(StoaTransactionTemplate.class).stoa())
              .isSameAs(started.getBean(Stoa.class));
        });
  }

  @Test
  void repositoriesThrowTheExceptionsOfSpring() {
    application
        .withPropertyValues("stoa.url=memory:", FINE)
        .withUserConfiguration(WithRepository.class)
        .run(started -> {
          Counters counters = started.getBean(Counters.class);
          counters.open("a");
          var thrown = assertThrows(DuplicateKeyException.class, () -> counters.open("a"));
          assertThat(thrown).hasCauseInstanceOf(AlreadyExists.class);
          assertThrows(IllegalStateException.class, () -> counters.refuse("a"));
        });
  }

  private static StoaStartFailure failure(AssertableApplicationContext started) {
    for (Throwable t = started.getStartupFailure(); t != null; t = t.getCause()) {
      if (t instanceof StoaStartFailure found) return found;
    }
    throw new AssertionError("no StoaStartFailure", started.getStartupFailure());
  }

  @Configuration(proxyBeanMethods = false)
  static class WithRepository {
    @Bean
    Counters counters(Stoa stoa) {
      return new Counters(stoa);
    }
  }

  @Repository
  static class Counters {
    private final Stoa stoa;

    Counters(Stoa stoa) {
      this.stoa = stoa;
    }

    void open(String name) {
      var _ = stoa.create(Counter.class, name);
    }

    void refuse(String name) {
      stoa.get(Counter.class, name).refuse();
    }
  }
}
