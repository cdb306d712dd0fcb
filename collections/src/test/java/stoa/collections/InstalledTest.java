package stoa.collections;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.File;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.ArrayList;
import org.junit.jupiter.api.Test;
import stoa.spi.Collections;

/// Where programs find the collections.
class InstalledTest {
  @Test
  void aThreadThatDoesNotKnowTheProgramsClassLoaderFindsThem() throws Exception {
    Thread thread = Thread.currentThread();
    ClassLoader before = thread.getContextClassLoader();
    try (var program = new URLClassLoader(classPath(), ClassLoader.getPlatformClassLoader())) {
      thread.setContextClassLoader(ClassLoader.getPlatformClassLoader());
      Object found =
          program.loadClass(Collections.class.getName()).getMethod("installed").invoke(null);
      assertEquals(program, found.getClass().getClassLoader());
    } finally {
      thread.setContextClassLoader(before);
    }
  }

  private static URL[] classPath() throws MalformedURLException {
    var urls = new ArrayList<URL>();
    for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      urls.add(new File(entry).toURI().toURL());
    }
    return urls.toArray(URL[]::new);
  }
}
