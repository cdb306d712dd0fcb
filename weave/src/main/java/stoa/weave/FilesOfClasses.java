package stoa.weave;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.constant.ClassDesc;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/// Finds the files of classes as compilers left them. Implementations are thread-safe.
interface FilesOfClasses {
  /// Opens the file of a class.
  ///
  /// @param name of the file, as in `users/Account.class`
  /// @return null when there is none
  @Nullable InputStream open(String name) throws IOException;

  /// Returns the superclasses of the classes, as their files have them.
  default ClassHierarchyResolver hierarchy() {
    return ClassHierarchyResolver.ofResourceParsing(this::opened)
        .orElse(ClassHierarchyResolver.defaultResolver())
        .cached(ConcurrentHashMap::new);
  }

  private @Nullable InputStream opened(ClassDesc type) {
    String descriptor = type.descriptorString();
    try {
      return open(descriptor.substring(1, descriptor.length() - 1) + ".class");
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
