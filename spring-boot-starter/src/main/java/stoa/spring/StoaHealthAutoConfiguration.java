package stoa.spring;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import stoa.Stoa;
import stoa.StoaConfig;

/// Adds the health of the store where Spring Boot's health is on the class path.
@AutoConfiguration(
    after = StoaAutoConfiguration.class,
    afterName =
        "org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration")
@ConditionalOnClass(HealthIndicator.class)
public final class StoaHealthAutoConfiguration {
  /// For Spring.
  public StoaHealthAutoConfiguration() {}

  /// Inside, since Spring loads the classes of all conditions of a class before it evaluates one.
  @Configuration(proxyBeanMethods = false)
  @ConditionalOnBean(Stoa.class)
  @ConditionalOnEnabledHealthIndicator(StoaReadiness.MEMBER)
  static class Indicator {
    @Bean
    @ConditionalOnMissingBean
    StoaHealthIndicator stoaHealthIndicator(
        Stoa stoa, ObjectProvider<StoaConfig> config, StoaProperties properties) {
      StoaConfig known = config.getIfAvailable();
      String url = known == null ? "" : known.url();
      return new StoaHealthIndicator(stoa, url, properties.health().timeMax());
    }

    /// Needs the endpoints, too.
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(SecurityContext.class)
    @ConditionalOnBooleanProperty(name = "stoa.health.readiness", matchIfMissing = true)
    static class Readiness {
      @Bean
      static HealthEndpointGroupsPostProcessor stoaReadiness() {
        return new StoaReadiness();
      }
    }
  }
}
