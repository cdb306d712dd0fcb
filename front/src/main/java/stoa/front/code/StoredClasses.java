package stoa.front.code;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import stoa.front.types.Platform;
import stoa.spi.ClassWeaver;

/// A loader that creates classes from the class files of a [CodeVersion], beside the process's
/// classes of the same names. All other classes are those of the process. Thread-safe.
public final class StoredClasses extends ClassLoader implements ClassWeaver.Exact {
  static {
    registerAsParallelCapable();
  }

  private final Map<String, byte[]> files;
  private final Function<byte[], byte[]> weaver;

  /// @param name the loader's name in stack traces
  /// @param files the class files by the binary names of their classes
  /// @param parent has the classes of the process
  /// @param weaver changes a class file before it becomes a class
  public StoredClasses(
      String name, Map<String, byte[]> files, ClassLoader parent, Function<byte[], byte[]> weaver) {
    super(name, parent);
    this.files = Map.copyOf(files);
    this.weaver = weaver;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (!files.containsKey(name) && !isBelow(name)) return super.loadClass(name, resolve);
    synchronized (getClassLoadingLock(name)) {
      Class<?> known = findLoadedClass(name);
      Class<?> found = known != null ? known : findClass(name);
      if (resolve) resolveClass(found);
      return found;
    }
  }

  /// Returns whether a class of the process extends a type of this loader that the version does not
  /// name. The loader then creates the class too, since the process's class could not stand for
  /// that type.
  private boolean isBelow(String name) throws ClassNotFoundException {
    Class<?> type = super.loadClass(name, false);
    for (Class<?> c = type; c != null && !Platform.has(c); c = c.getSuperclass()) {
      if (isOrImplements(c)) return true;
    }
    return false;
  }

  private boolean isOrImplements(Class<?> type) {
    if (files.containsKey(type.getName())) return true;
    for (Class<?> one : type.getInterfaces()) if (isOrImplements(one)) return true;
    return false;
  }

  @Override
  public @Nullable URL getResource(String name) {
    String className =
        name.endsWith(".class") ? name.substring(0, name.length() - 6).replace('/', '.') : "";
    byte[] file = files.get(className);
    return file == null ? super.getResource(name) : url(name, file);
  }

  private byte[] read(String name) throws ClassNotFoundException {
    try (InputStream in = getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (in == null) throw new ClassNotFoundException(name);
      return in.readAllBytes();
    } catch (IOException unreadable) {
      throw new ClassNotFoundException(name, unreadable);
    }
  }

  private static URL url(String name, byte[] file) {
    var handler =
        new URLStreamHandler() {
          @Override
          protected URLConnection openConnection(URL url) {
            return new URLConnection(url) {
              @Override
              public void connect() {}

              @Override
              public InputStream getInputStream() {
                return new ByteArrayInputStream(file);
              }
            };
          }
        };
    try {
      return URL.of(URI.create("stored:/" + name), handler);
    } catch (MalformedURLException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  @Override
  public String toString() {
    return String.valueOf(getName());
  }

  /// Returns whether this loader creates a class itself.
  public boolean has(String className) {
    return files.containsKey(className);
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    byte[] file = files.get(name);
    if (file == null) file = read(name);
    byte[] woven = weaver.apply(file);
    var source = new CodeSource(null, (java.security.cert.Certificate @Nullable []) null);
    var domain = new ProtectionDomain(source, null, this, null);
    return defineClass(name, woven, 0, woven.length, domain);
  }
}
