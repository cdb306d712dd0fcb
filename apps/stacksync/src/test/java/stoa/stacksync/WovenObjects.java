package stoa.stacksync;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import stoa.Stoa;
import stoa.weave.WeaveDirectories;

/// The facade of the papers' form, woven as a build weaves it, in a store in memory.
final class WovenObjects implements ServiceObjects {
  private static final String PACKAGE = "stoa.stacksync.papers.";
  private static final List<String> CLASSES = List.of("Facade.class");

  private final ClassLoader before = Thread.currentThread().getContextClassLoader();
  private final URLClassLoader classes;
  private final Stoa stoa;
  private final SyncService service;

  /// @param folder where the woven classes go, or are
  WovenObjects(Path folder) {
    try {
      if (!Files.exists(folder)) weave(folder);
      classes = new URLClassLoader(new URL[] {folder.toUri().toURL()}, new Hiding());
      Thread.currentThread().setContextClassLoader(classes);
      stoa = Stoa.open("memory:");
      stoa.bind();
      service = (SyncService) stoa.get(classes.loadClass(PACKAGE + "Facade"), new UUID(0, 1));
    } catch (IOException | ClassNotFoundException failed) {
      throw new IllegalStateException(failed);
    }
  }

  /// The other classes of this module, without the facade that is not woven.
  private static final class Hiding extends ClassLoader {
    Hiding() {
      super(WovenObjects.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith(PACKAGE)) throw new ClassNotFoundException(name);
      return super.loadClass(name, resolve);
    }

    @Override
    public @Nullable URL getResource(String name) {
      return name.startsWith(PACKAGE.replace('.', '/')) ? null : super.getResource(name);
    }
  }

  private static void weave(Path folder) throws IOException {
    Path files = Files.createDirectories(folder.resolve(PACKAGE.replace('.', '/')));
    for (String name : CLASSES) {
      String resource = PACKAGE.replace('.', '/') + name;
      try (InputStream in = WovenObjects.class.getClassLoader().getResourceAsStream(resource)) {
        if (in == null) throw new IOException(resource + " is not there");
        Files.copy(in, files.resolve(name));
      }
    }
    String path = System.getProperty("java.class.path");
    var libraries = Arrays.stream(path.split(File.pathSeparator, -1)).map(Path::of).toList();
    var report = WeaveDirectories.weave(List.of(folder), libraries);
    assertEquals(List.of(), report.refusals());
    assertEquals(CLASSES.size(), report.woven().size());
  }

  @Override
  public SyncService service() {
    return service;
  }

  @Override
  public List<ItemHistory> items(UUID workspace) {
    return stoa.get(Workspace.class, workspace).items(Long.MIN_VALUE, Integer.MAX_VALUE);
  }

  @Override
  public void close() {
    stoa.close();
    Thread.currentThread().setContextClassLoader(before);
    try {
      classes.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
