package stoa.spring;

import java.util.Map;
import org.springframework.boot.EnvironmentPostProcessor;
import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;

/// Sets the level of the library by which the servers of a cluster agree to `off`, unless the
/// application sets it: in a test with a cluster, the library tells many times of each server that
/// the test ends.
final class QuietLibraries implements EnvironmentPostProcessor {
  private static final Map<String, Object> LEVELS = Map.of("logging.level.io.microraft", "off");

  @Override
  public void postProcessEnvironment(
      ConfigurableEnvironment environment, SpringApplication application) {
    environment.getPropertySources().addLast(new MapPropertySource("stoaLoggingLevels", LEVELS));
  }
}
