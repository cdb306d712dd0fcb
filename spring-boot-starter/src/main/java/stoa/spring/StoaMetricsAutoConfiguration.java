package stoa.spring;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import stoa.Stoa;
import stoa.metrics.StoaMetrics;

/// Measures transactions where Micrometer has a registry, and the store itself where stoa-metrics
/// is on the class path, too.
@AutoConfiguration(
    after = StoaAutoConfiguration.class,
    afterName = {
      "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
      "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
    })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(MeterRegistry.class)
public final class StoaMetricsAutoConfiguration {
  /// For Spring.
  public StoaMetricsAutoConfiguration() {}

  /// Returns the meters of transactions.
  @Bean
  @ConditionalOnMissingBean
  public TransactionMetrics stoaTransactionMetrics(MeterRegistry registry) {
    return new TransactionMetrics(registry);
  }

  /// The measures of the store.
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(StoaMetrics.class)
  @ConditionalOnBean(Stoa.class)
  static class OfStore {
    private static final Logger LOG = LoggerFactory.getLogger(StoaMetricsAutoConfiguration.class);

    /// Spring Boot binds it to the registries.
    @Bean
    @ConditionalOnMissingBean(StoaMetrics.class)
    MeterBinder stoaMetrics(Stoa stoa) {
      try {
        return StoaMetrics.of(stoa);
      } catch (IllegalArgumentException another) {
        LOG.info("no measures: {}", another.getMessage());
        return _ -> {};
      }
    }
  }
}
