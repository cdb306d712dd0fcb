package stoa.front.code;

import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// Makes classes of the class files of a [CodeVersion], beside the classes of the same names that the
/// process has. All other classes are those of the process. Thread-safe.
public final class StoredClasses extends ClassLoader {
  static {
    registerAsParallelCapable();
  }

  private final Map<String, byte[]> files;
  private final Function<byte[], byte[]> weaver;

  /// @param name how stack traces call it
  /// @param files the class files by the binary names of their classes
  /// @param parent has the classes of the process
  /// @param weaver changes a class file before it becomes a class
  public StoredClasses(
      String name,
      Map<String, byte[]> files,
      ClassLoader parent,
      Function<byte[], byte[]> weaver) {
    super(name, parent);
    this.files = Map.copyOf(files);
    this.weaver = weaver;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!files.containsKey(name)) return super.loadClass(name, resolve);
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      Class<?> found = known != null ? known : findClass(name);
      if (resolve) resolveClass(found);
      return found;
    }
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] file = files.get(name);
    if (file == null) throw new ClassNotFoundException(name);
    byte[] woven = weaver.apply(file);
    var source = new CodeSource(null, (java.security.cert.Certificate @Nullable []) null);
    var domain = new ProtectionDomain(source, null, this, null);
    return defineClass(name, woven, 0, woven.length, domain);
  }
}
