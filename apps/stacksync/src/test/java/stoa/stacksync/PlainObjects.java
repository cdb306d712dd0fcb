package stoa.stacksync;

import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import stoa.Ref;
import stoa.Shared;
import stoa.spi.CallContext;

/// Shared classes as ordinary objects of one thread: without proxies, copies or a log. It shows
/// that the rules of the service stand on their own.
final class PlainObjects implements CallContext, ServiceObjects {
  private final Map<Ref<?>, Object> objects = new HashMap<>();
  private final RandomGenerator random = new SplittableRandom(7);
  private final SyncService service;
  private long calls;

  PlainObjects(Design design) {
    service = call(() -> new Facade(design));
  }

  @Override
  public SyncService service() {
    return service;
  }

  @Override
  public List<ItemHistory> items(UUID workspace) {
    return get(Workspace.class, workspace).items(Long.MIN_VALUE, Integer.MAX_VALUE);
  }

  @Override
  public void close() {}

  @Override
  public <R> R call(Callable<R> body) {
    return ServiceObjects.super.call(() -> ScopedValue.where(CURRENT, this).call(body::call));
  }

  @Override
  public void run(Runnable body) {
    ScopedValue.where(CURRENT, this).run(body);
  }

  @Override
  public Instant now() {
    return Instant.EPOCH.plusSeconds(++calls);
  }

  @Override
  public RandomGenerator random() {
    return random;
  }

  @Override
  public long version() {
    return calls;
  }

  @Override
  public <T> T get(Class<T> type, Object key, @Nullable Object... args) {
    var shared = Objects.requireNonNull(type.getAnnotation(Shared.class));
    var ref = new Ref<T>(shared.name(), key);
    var object = objects.get(ref);
    if (object == null) {
      List<@Nullable Object> all = new ArrayList<>();
      if (!shared.key().isEmpty()) all.add(key);
      all.addAll(List.of(args));
      object = instance(type, all);
      objects.put(ref, object);
    }
    return type.cast(object);
  }

  private static Object instance(Class<?> type, List<@Nullable Object> args) {
    try {
      for (Constructor<?> constructor : type.getDeclaredConstructors()) {
        if (constructor.getParameterCount() != args.size()) continue;
        constructor.setAccessible(true);
        return constructor.newInstance(args.toArray());
      }
    } catch (InvocationTargetException | InstantiationException | IllegalAccessException e) {
      throw new LinkageError(type + " cannot be made", e);
    }
    throw new AssertionError("no constructor of " + type + " takes " + args);
  }
}
