package stoa.weave;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.cert.Certificate;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import stoa.spi.Cancellation;
import stoa.spi.ClassWeaver;

/// Loads users' classes from jar files and directories, and inserts the checks by which
/// [Cancellation] stops a run of their code: one at the entry of each method and one at each
/// backward jump. Before that it weaves `new` and static fields as [stoa.Shared] describes, see
/// [SharedUses]; its resources show class files in that form, without the checks.
///
/// Its parent is the loader of Stoa itself, which loads its own classes without checks. Loops in
/// the JDK that call no users' code cannot be stopped, and neither can waits there. Thread-safe.
public final class UserClasses extends URLClassLoader implements ClassWeaver {
  static {
    registerAsParallelCapable();
  }

  private final SharedUses uses;
  private final Weaver weaver;

  private UserClasses(URL[] path, Consumer<String> unwoven) {
    super("users", path, Cancellation.class.getClassLoader());
    uses = new SharedUses(this::open, unwoven);
    weaver = new Weaver(this::open, unwoven);
  }

  /// Opens a loader of the classes on a path. Close it when none of them is in use.
  ///
  /// @param path jar files and directories, searched in this order
  /// @param unwoven receives each method that stays without checks, or that throws because it
  ///   cannot be woven otherwise, and the reason
  /// @throws IllegalArgumentException when one of these does not exist
  public static UserClasses open(List<Path> path, Consumer<String> unwoven) {
    return new UserClasses(path.stream().map(UserClasses::url).toArray(URL[]::new), unwoven);
  }

  private static URL url(Path path) {
    if (!Files.isReadable(path)) {
      throw new IllegalArgumentException(
          path + " is not there or cannot be read; name jar files and directories of classes");
    }
    try {
      return path.toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalArgumentException(path + " is no jar file or directory of classes", e);
    }
  }

  @Override
  public byte[] woven(byte[] classFile) {
    return weaver.weave(classFile);
  }

  @Override
  protected Class<?> findClass(String name) throws ClassNotFoundException {
    String file = name.replace('.', '/') + ".class";
    URL url = super.findResource(file);
    if (url == null) throw new ClassNotFoundException(name);
    byte[] classFile;
    try (InputStream in = url.openStream()) {
      classFile = in.readAllBytes();
    } catch (IOException e) {
      throw new ClassNotFoundException(name + " cannot be read from " + url, e);
    }
    int dot = name.lastIndexOf('.');
    if (dot > 0) define(name.substring(0, dot));
    byte[] woven = weaver.weave(uses.weave(classFile));
    var source = new CodeSource(origin(url, file), (Certificate @Nullable []) null);
    return defineClass(name, woven, 0, woven.length, source);
  }

  @Override
  public @Nullable URL findResource(String name) {
    URL url = super.findResource(name);
    return url == null || !name.endsWith(".class") ? url : shown(url);
  }

  /// Opens a class file as its compiler left it.
  private @Nullable InputStream open(String name) throws IOException {
    URL inherited = getParent().getResource(name);
    URL url = inherited == null ? super.findResource(name) : inherited;
    return url == null ? null : url.openStream();
  }

  /// Returns a URL like a given one, with the class file in the form of the class.
  private URL shown(URL place) {
    var handler =
        new URLStreamHandler() {
          @Override
          protected URLConnection openConnection(URL same) {
            return new URLConnection(same) {
              @Override
              public void connect() {}

              @Override
              public InputStream getInputStream() throws IOException {
                try (InputStream in = place.openStream()) {
                  return new ByteArrayInputStream(uses.weave(in.readAllBytes()));
                }
              }
            };
          }
        };
    try {
      return URL.of(URI.create("woven:" + place), handler);
    } catch (MalformedURLException impossible) {
      throw new IllegalStateException(place + " is none", impossible);
    }
  }

  private void define(String packageName) {
    if (getDefinedPackage(packageName) != null) return;
    try {
      definePackage(packageName, null, null, null, null, null, null, null);
    } catch (IllegalArgumentException otherThread) {
      // Another thread has just defined it.
    }
  }

  /// Returns the jar file or directory of a class file.
  private static @Nullable URL origin(URL url, String file) {
    String text = url.toString();
    String place = text.substring(0, text.length() - file.length());
    if (place.startsWith("jar:")) place = place.substring(4, place.indexOf("!/"));
    try {
      return URI.create(place).toURL();
    } catch (MalformedURLException | IllegalArgumentException unknown) {
      return null;
    }
  }
}
