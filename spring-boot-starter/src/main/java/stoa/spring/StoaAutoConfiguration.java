package stoa.spring;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurationPackages;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import org.springframework.dao.annotation.PersistenceExceptionTranslationPostProcessor;
import stoa.Corrupt;
import stoa.Stoa;
import stoa.StoaConfig;
import stoa.Unavailable;

/// Makes a store of the properties `stoa.*` the bean [Stoa], checks the application's shared
/// classes with it, and adds a [StoaTransactionTemplate] and the translation of exceptions.
///
/// Any bean of the application's own takes the place of the bean here. The store closes when the
/// application stops, after the beans that use it.
@AutoConfiguration(
    afterName =
        "org.springframework.boot.persistence.autoconfigure.PersistenceExceptionTranslationAutoConfiguration")
@EnableConfigurationProperties(StoaProperties.class)
public final class StoaAutoConfiguration {
  /// For Spring.
  public StoaAutoConfiguration() {}

  /// Returns how to open the store.
  @Bean
  @ConditionalOnMissingBean({StoaConfig.class, Stoa.class})
  public StoaConfig stoaConfig(
      StoaProperties properties, ObjectProvider<StoaConfigCustomizer> customizers) {
    StoaConfig config = properties.config();
    for (StoaConfigCustomizer customizer : customizers.orderedStream().toList()) {
      config = customizer.customize(config);
    }
    return config;
  }

  /// Opens the store, and checks the shared classes.
  ///
  /// @throws StoaStartFailure when the store cannot be opened, or refuses a class
  @Bean(destroyMethod = "close")
  @ConditionalOnMissingBean
  @Lazy(false)
  public Stoa stoa(
      StoaConfig config, StoaProperties properties, ConfigurableApplicationContext application) {
    ConfigurableListableBeanFactory beans = application.getBeanFactory();
    ClassLoader classes =
        Objects.requireNonNullElse(
            beans.getBeanClassLoader(), StoaAutoConfiguration.class.getClassLoader());
    SharedTypes types = types(properties.scan(), application, beans, classes);
    return within(
        classes,
        () -> {
          Stoa stoa = open(config);
          try {
            types.check(stoa);
            return stoa;
          } catch (RuntimeException | Error failed) {
            stoa.close();
            throw failed;
          }
        });
  }

  private static SharedTypes types(
      StoaProperties.Scan scan,
      ConfigurableApplicationContext application,
      BeanFactory beans,
      ClassLoader classes) {
    if (!scan.enabled()) return new SharedTypes(List.of());
    List<String> packages = scan.packages();
    if (packages.isEmpty() && AutoConfigurationPackages.has(beans)) {
      packages = AutoConfigurationPackages.get(beans);
    }
    Environment environment = application.getEnvironment();
    return SharedTypes.in(packages, environment, application, classes);
  }

  /// Runs with the class loader in which Stoa finds engines and the application's classes.
  private static <T> T within(ClassLoader classes, Supplier<T> action) {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    thread.setContextClassLoader(classes);
    try {
      return action.get();
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static Stoa open(StoaConfig config) {
    String failed = "The store " + config.url() + " cannot be opened: ";
    try {
      return Stoa.open(config);
    } catch (IllegalArgumentException e) {
      throw new StoaStartFailure(
          failed + e.getMessage(),
          "Correct stoa.url. For memory: and file: put dev.stoa:stoa-embedded on the class path, for"
              + " stoa: put dev.stoa:stoa-client there.",
          e);
    } catch (Unavailable e) {
      throw new StoaStartFailure(
          failed + e.getMessage(),
          "Start the server that stoa.url names, or end the process that has the directory open.",
          e);
    } catch (Corrupt e) {
      throw new StoaStartFailure(
          failed + e.getMessage(), "Examine the directory with ./stoa scrub.", e);
    }
  }

  /// Returns the template, with the limits `stoa.transaction.*`.
  @Bean
  @ConditionalOnMissingBean
  public StoaTransactionTemplate stoaTransactionTemplate(
      Stoa stoa, StoaProperties properties, ObjectProvider<TransactionListener> listeners) {
    return new StoaTransactionTemplate(
        stoa, properties.transaction().options(), listeners.orderedStream().toList());
  }

  /// Returns the translation of exceptions, which beans with `@Repository` get.
  @Bean
  @ConditionalOnMissingBean
  public static StoaExceptionTranslator stoaExceptionTranslator() {
    return new StoaExceptionTranslator();
  }

  /// Applies translations to beans with `@Repository`, unless another library has Spring do it.
  @Bean
  @ConditionalOnMissingBean
  @ConditionalOnBooleanProperty(
      name = "spring.persistence.exceptiontranslation.enabled",
      matchIfMissing = true)
  public static PersistenceExceptionTranslationPostProcessor stoaExceptionTranslationPostProcessor(
      Environment environment) {
    var processor = new PersistenceExceptionTranslationPostProcessor();
    processor.setProxyTargetClass(
        environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true));
    return processor;
  }
}
