package stoa.front.marshal;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import stoa.StoaException;

/// Finds the classes of a registry, of the JDK and of Stoa's exceptions, and no others: it does not
/// even load another class that bytes name. Immutable.
final class KnownClasses extends ClassLoader {
  private static final String STOA = StoaException.class.getPackageName() + ".";

  private final Map<String, Class<?>> registered = new HashMap<>();

  KnownClasses(ClassRegistry registry) {
    super(ClassLoader.getPlatformClassLoader());
    for (Class<?> type : registry.entries().keySet()) registered.put(type.getName(), type);
    registry
        .renamed()
        .forEach((name, type) -> {
          if (registry.has(type)) registered.putIfAbsent(name, type);
        });
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    @Nullable Class<?> known = registered.get(name);
    if (known != null) return known;
    if (name.startsWith(STOA) && name.indexOf('.', STOA.length()) < 0) {
      Class<?> own = Class.forName(name, false, StoaException.class.getClassLoader());
      if (StoaException.class.isAssignableFrom(own)) return own;
    }
    throw new ClassNotFoundException(name + " is not registered");
  }
}
