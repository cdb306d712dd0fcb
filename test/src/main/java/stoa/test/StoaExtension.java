package stoa.test;

import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionConfigurationException;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.HierarchyTraversalMode;
import org.junit.platform.commons.support.ReflectionSupport;
import stoa.Stoa;
import stoa.StoaConfig;

/// Gives tests stores, servers and clusters, and closes them afterwards.
///
/// ```java
/// @StoaTest
/// class AccountTest {
///   @Clustered(3) static StoaCluster cluster; // one for all tests of the class
///
///   @Test
///   void inMemory(Stoa stoa) { … }            // a new store for this test
///
///   @Test
///   void served(@Served Stoa stoa, StoaServer server) { … } // a client, and its server
///
///   @Test
///   void clustered(@Clustered Stoa stoa) { … } // a client of the cluster of the class
/// }
/// ```
///
/// **What.** The types are [Stoa], [StoaStore], [StoaServer], [StoaCluster] and [StoaClock]; the
/// annotations are [Embedded], [Served] and [Clustered]. A field needs one of the annotations. All
/// parameters and fields of a test that ask for the same get the same: in the example the client
/// and the server belong together.
///
/// **How long.** A parameter of a test or of `@BeforeEach`, and an instance field, live for one
/// test. A static field, and a parameter of `@BeforeAll` or of a constructor of a test class, live
/// for the class, and its tests share them. Afterwards the extension closes all; whatever it cannot
/// close fails the test or the class. Tests may run in parallel.
///
/// **Settings.** Stores have the standard configuration, but calls may take 30 s: on a machine that
/// runs many tests, servers elect a leader late. Registered with [#with(StoaConfig)] in place of
/// the annotation, the stores have a configuration of the test:
///
/// ```java
/// @RegisterExtension
/// static final StoaExtension stoa = StoaExtension.with(StoaConfig.of("memory:").withTypes(…));
/// ```
public final class StoaExtension
    implements BeforeAllCallback, BeforeEachCallback, ParameterResolver {
  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(StoaExtension.class);
  private static final List<Class<?>> TYPES =
      List.of(Stoa.class, StoaStore.class, StoaServer.class, StoaCluster.class, StoaClock.class);

  private final StoaConfig config;

  /// Gives stores with the standard configuration; for `@ExtendWith`.
  public StoaExtension() {
    this(TestDefaults.standard());
  }

  private StoaExtension(StoaConfig config) {
    this.config = config;
  }

  /// Returns an extension whose stores have other settings.
  ///
  /// @param config the types, limits and [StoaConfig#keep()] of stores, and the limits of clients;
  ///   the extension ignores its URL
  public static StoaExtension with(StoaConfig config) {
    return new StoaExtension(config);
  }

  // The kind of store that a parameter or field asks for.
  private sealed interface Wish {
    record InMemory() implements Wish {}

    record OnServer() implements Wish {}

    record OnCluster(int servers, int groups) implements Wish {}
  }

  @Override
  public void beforeAll(ExtensionContext context) {
    inject(context, context.getRequiredTestClass(), null);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    for (Object instance : context.getRequiredTestInstances().getAllInstances()) {
      inject(context, instance.getClass(), instance);
    }
  }

  private void inject(ExtensionContext context, Class<?> type, @Nullable Object instance) {
    List<Field> fields =
        ReflectionSupport.findFields(
            type,
            field -> Modifier.isStatic(field.getModifiers()) == (instance == null) && asks(field),
            HierarchyTraversalMode.TOP_DOWN);
    for (Field field : fields) {
      if (Modifier.isFinal(field.getModifiers())) {
        throw new ExtensionConfigurationException(field + " is final; let it not be");
      }
      try {
        field.setAccessible(true);
        field.set(instance, made(context, field, field.getType()));
      } catch (IllegalAccessException | RuntimeException closed) {
        if (closed instanceof ExtensionConfigurationException told) throw told;
        throw new ExtensionConfigurationException(field + " cannot be set: " + closed, closed);
      }
    }
  }

  private static boolean asks(AnnotatedElement element) {
    return element.isAnnotationPresent(Embedded.class)
        || element.isAnnotationPresent(Served.class)
        || element.isAnnotationPresent(Clustered.class);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return TYPES.contains(parameter.getParameter().getType());
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return made(context, parameter.getParameter(), parameter.getParameter().getType());
  }

  private Object made(ExtensionContext context, AnnotatedElement element, Class<?> type) {
    ExtensionContext.Store kept = context.getStore(NAMESPACE);
    var clock = kept.computeIfAbsent(StoaClock.class, _ -> new StoaClock(), StoaClock.class);
    if (type == StoaClock.class) return clock;
    return switch (wish(element, type)) {
      case Wish.InMemory wish -> {
        var store = kept.computeIfAbsent(wish, _ -> StoaStore.open(config, clock), StoaStore.class);
        yield type == Stoa.class ? store.stoa() : store;
      }
      case Wish.OnServer wish -> {
        var server =
            kept.computeIfAbsent(wish, _ -> StoaServer.start(config, clock), StoaServer.class);
        yield type == Stoa.class ? server.client() : server;
      }
      case Wish.OnCluster wish -> {
        var cluster =
            kept.computeIfAbsent(
                wish,
                _ -> StoaCluster.start(wish.servers, wish.groups, config, clock),
                StoaCluster.class);
        yield type == Stoa.class ? cluster.client() : cluster;
      }
    };
  }

  private static Wish wish(AnnotatedElement element, Class<?> type) {
    Clustered clustered = element.getAnnotation(Clustered.class);
    if (clustered != null) {
      require(type, StoaCluster.class, element, "@Clustered");
      return new Wish.OnCluster(clustered.value(), clustered.groups());
    }
    if (element.isAnnotationPresent(Served.class)
        || (type == StoaServer.class && !element.isAnnotationPresent(Embedded.class))) {
      require(type, StoaServer.class, element, "@Served");
      return new Wish.OnServer();
    }
    if (type == StoaCluster.class) {
      throw new ExtensionConfigurationException(
          element + " does not say how many servers it has; write @Clustered(3) StoaCluster");
    }
    require(type, StoaStore.class, element, "@Embedded");
    return new Wish.InMemory();
  }

  private static void require(
      Class<?> type, Class<?> other, AnnotatedElement element, String annotation) {
    if (type == Stoa.class || Objects.equals(type, other)) return;
    throw new ExtensionConfigurationException(
        "%s is of no type that %s gives; use Stoa or %s"
            .formatted(element, annotation, other.getSimpleName()));
  }
}
