package stoa.objects;

import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import stoa.Shared;
import stoa.StoaException;
import stoa.front.ClassNames;
import stoa.front.code.CodeVersion;
import stoa.front.types.HandlerType;
import stoa.front.types.SharedType;
import stoa.store.Store;

/// Finds the code of classes that the program lacks: in the log, or at another server. Thread-safe;
/// may wait for the disk and for other servers.
final class ForeignCode {
  private static final Logger LOG = LoggerFactory.getLogger(ForeignCode.class);

  private final Catalog catalog;
  private final Store store;
  private final CodeOfOthers.@Nullable Source others;
  private final ReentrantLock fetching = new ReentrantLock();

  /// @param others finds code at the other servers; null when there are none
  ForeignCode(Catalog catalog, Store store, CodeOfOthers.@Nullable Source others) {
    this.catalog = catalog;
    this.store = store;
    this.others = others;
  }

  /// Returns whether the log has a class that the program lacks, or another server has it: then its
  /// code is in the log from now on. May wait for the other servers.
  boolean finds(String className) {
    if (isOfProgram(className)) return false;
    if (hasStored(className)) return true;
    if (others == null || !catalog.leads()) return false;
    fetching.lock();
    try {
      if (hasStored(className)) return true; // a thread before this one has fetched it
      CodeOfOthers.Found found = others.find(className);
      if (found == null) return false;
      new CodeService(catalog, store).bring(found.files(), Set.of(found.type()));
      return hasStored(className);
    } finally {
      fetching.unlock();
    }
  }

  private boolean isOfProgram(String className) {
    try {
      var _ = Class.forName(className, false, catalog.loader());
      return true;
    } catch (ClassNotFoundException | LinkageError lacking) {
      return false;
    }
  }

  private boolean hasStored(String className) {
    boolean has = usesStored(className) || catalog.handlers().has(className);
    if (has && catalog.leads()) begin(className);
    return has;
  }

  /// Uses the types in the log, and returns whether one of their versions has a class.
  private boolean usesStored(String className) {
    for (String type : catalog.codes().types()) {
      try {
        var _ = catalog.active(type);
      } catch (StoaException unusable) {
        LOG.debug("{} has no classes here", type, unusable); // the caller asks for another type
      }
    }
    return catalog.storedCodes().all().stream().anyMatch(code -> code.has(className));
  }

  /// Has the code of a shared class execute the calls of its type, or that of a class of handlers
  /// these handlers, if the log has the class only because other code uses it.
  private void begin(String className) {
    for (LoadedCode code : catalog.loaded().toList()) {
      for (Class<?> type : code.classesNamed(className)) {
        if (type.isAnnotationPresent(Shared.class)) begin(SharedType.of(type));
        else if (HandlerType.mayBe(type)) beginHandler(type);
      }
    }
  }

  /// Has the code of a type execute its calls, unless the log has code of the type.
  void begin(SharedType type) {
    if (!catalog.codes().of(type.name()).isEmpty()) return;
    new CodeService(catalog, store).bring(CodeOfOthers.files(type), Set.of(type.name()));
  }

  private void beginHandler(Class<?> type) {
    if (!catalog.handlers().codes().of(type.getName()).isEmpty()) return;
    new CodeService(catalog, store)
        .bring(CodeVersion.of(type).files(), Set.of(ClassNames.HANDLER + type.getName()));
  }
}
