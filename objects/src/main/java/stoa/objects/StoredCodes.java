package stoa.objects;

import java.lang.ref.WeakReference;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import stoa.base.StreamId;

/// The versions of code in the log that this process has loaded. All activations of one version of
/// a type share its classes, so that an object passes from one activation to the next as it is.
///
/// Keeps the versions that are active, and at most [#PAST_MAX] others; it drops first what it was
/// asked for longest ago. An object in memory keeps its own code, and no version is ever loaded
/// twice at a time. Thread-safe.
final class StoredCodes {
  /// The most versions that are kept for the past alone.
  static final int PAST_MAX = 64;

  private record Version(String type, StreamId name) {}

  private final Function<Codes.Activation, LoadedCode> loading;
  private final Predicate<LoadedCode> isActive;
  private final Consumer<LoadedCode> dropping;
  private final ReentrantLock lock = new ReentrantLock();

  // All that something refers to. Guarded by the lock.
  private final Map<Version, WeakReference<LoadedCode>> loaded = new HashMap<>();

  // The kept code, the most recently used at the end. Guarded by the lock.
  private final LinkedHashSet<LoadedCode> kept = new LinkedHashSet<>();

  /// @param loading reads a version from the log
  /// @param isActive whether a version executes new puts
  /// @param dropping receives a version that is no longer kept
  StoredCodes(
      Function<Codes.Activation, LoadedCode> loading,
      Predicate<LoadedCode> isActive,
      Consumer<LoadedCode> dropping) {
    this.loading = loading;
    this.isActive = isActive;
    this.dropping = dropping;
  }

  /// Returns the code of an activation. Reads the log when it is not loaded.
  LoadedCode get(Codes.Activation activation) {
    lock.lock();
    try {
      var version = new Version(activation.type(), activation.version());
      WeakReference<LoadedCode> known = loaded.get(version);
      LoadedCode code = known == null ? null : known.get();
      if (code == null) {
        code = loading.apply(activation);
        loaded.put(version, new WeakReference<>(code));
      }
      code.noteActivation(activation.number());
      kept.remove(code);
      kept.add(code);
      drop();
      return code;
    } finally {
      lock.unlock();
    }
  }

  private void drop() {
    long past = kept.stream().filter(isActive.negate()).count() - PAST_MAX;
    Iterator<LoadedCode> oldest = kept.iterator();
    while (past > 0) {
      LoadedCode code = oldest.next();
      if (isActive.test(code)) continue;
      oldest.remove();
      dropping.accept(code);
      past--;
    }
    loaded.values().removeIf(reference -> reference.get() == null);
  }

  /// Returns whether a version is kept.
  boolean keeps(LoadedCode code) {
    lock.lock();
    try {
      return kept.contains(code);
    } finally {
      lock.unlock();
    }
  }

  /// Returns the code whose classes a loader has created; null when nothing refers to it.
  @Nullable LoadedCode find(ClassLoader loader) {
    lock.lock();
    try {
      for (WeakReference<LoadedCode> reference : loaded.values()) {
        LoadedCode code = reference.get();
        if (code != null && code.loader().equals(loader)) return code;
      }
      return null;
    } finally {
      lock.unlock();
    }
  }

  /// Returns the versions that are kept.
  List<LoadedCode> all() {
    lock.lock();
    try {
      return List.copyOf(kept);
    } finally {
      lock.unlock();
    }
  }
}
