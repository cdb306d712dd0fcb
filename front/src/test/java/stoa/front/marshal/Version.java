package stoa.front.marshal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Field;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;
import org.jspecify.annotations.Nullable;
import stoa.front.proxy.Proxied;
import stoa.front.proxy.Proxies;
import stoa.front.types.SharedType;

/// One version of a program: its classes, compiled here and loaded by a loader of their own, and a
/// marshaller for them.
record Version(ClassLoader loader, Marshaller marshaller, SharedType type) {
  private static final Pattern NAME = Pattern.compile("(?:class|record|enum|interface) (\\w+)");

  private static final JavaCompiler COMPILER = ToolProvider.getSystemJavaCompiler();

  /// Shared, as it remembers what is on the class path.
  private static final StandardJavaFileManager FILES =
      COMPILER.getStandardFileManager(null, Locale.ROOT, StandardCharsets.UTF_8);

  /// Compiles sources of the package `v` and registers a shared class of them.
  ///
  /// @throws stoa.NotShareable when the class is refused
  static Version compiled(Path directory, TypeIds ids, String sharedClass, String... sources)
      throws Exception {
    Path classes = Files.createDirectories(directory);
    var files = new ArrayList<JavaFileObject>();
    for (String source : sources) files.add(new Source(source));
    var errors = new DiagnosticCollector<JavaFileObject>();
    var options = List.of("-cp", System.getProperty("java.class.path"), "-proc:none", "-nowarn");
    synchronized (FILES) {
      FILES.setLocation(StandardLocation.CLASS_OUTPUT, List.of(classes.toFile()));
      boolean compiled = COMPILER.getTask(null, FILES, errors, options, null, files).call();
      assertTrue(compiled, () -> errors.getDiagnostics().toString());
    }
    var loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, Version.class.getClassLoader());
    SharedType type = SharedType.of(loader.loadClass(sharedClass));
    var marshaller =
        new Marshaller(
            ids,
            new References() {
              @Override
              public @Nullable Reference referenceOf(Object object) {
                Proxied proxied = Proxies.of(object);
                return proxied == null ? null : new Reference(proxied.ref(), 1);
              }

              @Override
              public Object facade(Reference reference, String form) {
                throw new UnsupportedOperationException(form);
              }

              @Override
              public Object resolve(Reference reference) {
                return Proxies.create(type, reference.ref(), new Object[0], (p, m, a) -> null);
              }
            },
            List.of(),
            loader,
            1 << 20);
    marshaller.register(type);
    return new Version(loader, marshaller, type);
  }

  Object make(Object... args) throws Throwable {
    return type.instantiate("k", args);
  }

  byte[] state(Object instance) {
    return marshaller.state(type, instance);
  }

  Object read(byte[] bytes) {
    return marshaller.state(type, bytes);
  }

  /// Returns the value of a field that the class of an object or a superclass declares.
  static @Nullable Object field(Object instance, String name) throws Exception {
    for (Class<?> c = instance.getClass(); c != null; c = c.getSuperclass()) {
      for (Field field : c.getDeclaredFields()) {
        if (!field.getName().equals(name)) continue;
        field.setAccessible(true);
        return field.get(instance);
      }
    }
    throw new NoSuchFieldException(name);
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///v/" + nameIn(text) + ".java"), Kind.SOURCE);
      this.text = text;
    }

    private static String nameIn(String text) {
      Matcher matcher = NAME.matcher(text);
      if (!matcher.find()) throw new IllegalArgumentException(text);
      return matcher.group(1);
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }

    @Override
    public InputStream openInputStream() throws IOException {
      throw new IOException("source only");
    }
  }
}
